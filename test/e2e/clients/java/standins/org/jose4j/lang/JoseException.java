package org.jose4j.lang;

/** Stands for a class that the client needs to load. */
public class JoseException extends Exception {}
