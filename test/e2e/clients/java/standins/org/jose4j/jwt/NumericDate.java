package org.jose4j.jwt;

/** Stands for a class that the client needs to load. */
public class NumericDate {
  public static NumericDate now() {
    throw new UnsupportedOperationException();
  }

  public boolean isOnOrAfter(NumericDate other) {
    throw new UnsupportedOperationException();
  }
}
