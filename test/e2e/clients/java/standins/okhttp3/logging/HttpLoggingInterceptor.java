package okhttp3.logging;

/** Stands for the log of requests, which Debian has no package of. */
public class HttpLoggingInterceptor implements okhttp3.Interceptor {
  public enum Level {
    NONE,
    BASIC,
    HEADERS,
    BODY
  }

  public HttpLoggingInterceptor setLevel(Level level) {
    return this;
  }

  @Override
  public okhttp3.Response intercept(Chain chain) throws java.io.IOException {
    return chain.proceed(chain.request());
  }
}
