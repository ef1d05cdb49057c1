package com.microsoft.aad.adal4j;

/** Stands for a class that the client needs to load. */
public class AuthenticationResult {
  public String getAccessToken() {
    return null;
  }

  public String getRefreshToken() {
    return null;
  }
}
