package org.jose4j.jws;

/** Stands for a class that the client needs to load. */
public class JsonWebSignature {
  public void setCompactSerialization(String text) throws org.jose4j.lang.JoseException {
    throw new UnsupportedOperationException();
  }

  public String getUnverifiedPayload() throws org.jose4j.lang.JoseException {
    throw new UnsupportedOperationException();
  }
}
