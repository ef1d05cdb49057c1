package org.jose4j.json.internal.json_simple;

/** Stands for a class that the client needs to load. */
public class JSONObject extends java.util.HashMap<String, Object> {}
