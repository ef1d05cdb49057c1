package com.microsoft.aad.adal4j;

/** Stands for a class that the client needs to load; nothing here is asked for a token. */
public class AuthenticationContext {
  public AuthenticationContext(
      String authority, boolean validate, java.util.concurrent.ExecutorService service)
      throws java.net.MalformedURLException {}

  public java.util.concurrent.Future<AuthenticationResult> acquireTokenByRefreshToken(
      String token, String client, String resource) {
    throw new UnsupportedOperationException();
  }
}
