package org.jose4j.jwt.consumer;

/** Stands for a class that the client needs to load. */
public class InvalidJwtException extends Exception {}
