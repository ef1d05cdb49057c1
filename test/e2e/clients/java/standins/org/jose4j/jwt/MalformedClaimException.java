package org.jose4j.jwt;

/** Stands for a class that the client needs to load. */
public class MalformedClaimException extends Exception {}
