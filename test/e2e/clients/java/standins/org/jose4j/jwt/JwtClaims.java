package org.jose4j.jwt;

/** Stands for a class that the client needs to load. */
public class JwtClaims {
  public static JwtClaims parse(String text) throws org.jose4j.jwt.consumer.InvalidJwtException {
    throw new UnsupportedOperationException();
  }

  public NumericDate getExpirationTime() throws MalformedClaimException {
    throw new UnsupportedOperationException();
  }
}
