// Runs named steps and tells the Go test that started this program about them: one
// JSON document a line on standard output, replies on standard input.

#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>

#include "apiClient.h"
#include "cJSON.h"

// world is what the steps work with. What they allocate is left to the program's end.
typedef struct {
    apiClient_t *client;
    char *base_path;
    sslConfig_t *ssl;
    char *namespace, *group;
    char *certificate; // a kubeconfig whose user has one, or NULL
} world;

// step is one step: a step that fails ends with FAIL.
typedef struct {
    const char *name;
    void (*run)(world *w);
} step;

extern const step builtin_steps[], custom_steps[], raw_steps[], watch_steps[];

// run_all runs steps up to one without a name; a failure does not end the program.
void run_all(const step *steps, world *w);
void finished(void);

// fail and skip end a step.
void fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void skip(const char *reason) __attribute__((noreturn));

#define FAIL(...) fail(__FILE__, __LINE__, __VA_ARGS__)
#define WANT(condition) do { if (!(condition)) FAIL("not so: %s", #condition); } while (0)
#define EQUAL(got, want) equal(__FILE__, __LINE__, got, want)
#define ANSWERED(w, code) do { if ((w)->client->response_code != (code)) FAIL("answered with %ld, want %d", (w)->client->response_code, code); } while (0)

void equal(const char *file, int line, const char *got, const char *want);

// ask has the Go test do something to the server, and tells whether it could.
bool ask(const char *what);

// format is sprintf into new memory.
char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));

// at finds the value at a path of keys such as "metadata.name" in a JSON text, as text;
// "" when there is none.
char *at(const char *json, const char *path);

// REFUSED fails unless a reply is a Status of this code and reason.
#define REFUSED(reply, code, reason) refused(__FILE__, __LINE__, reply, code, reason)
void refused(const char *file, int line, const char *reply, const char *code, const char *reason);

// pair_list makes a list of pairs from keys and values in turn, which NULL ends.
list_t *pair_list(const char *key, ...);

// gone waits until a request is answered with 404.
void gone(world *w, char *(*request)(world *w));

// invoke makes a request that the client has no function for, and returns the reply.
char *invoke(apiClient_t *client, const char *method, const char *path, list_t *query, const char *accept, const char *body);

// pause_briefly is for who asks again and again.
void pause_briefly(void);

#endif
