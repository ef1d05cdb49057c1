#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include "harness.h"

static jmp_buf step_end;
static char *failure, *skipped;

static void say(cJSON *document) {
    char *line = cJSON_PrintUnformatted(document);
    printf("%s\n", line);
    fflush(stdout);
    free(line);
    cJSON_Delete(document);
}

void run_all(const step *steps, world *w) {
    for (const step *s = steps; s->name; s++) {
        failure = skipped = NULL;
        if (!setjmp(step_end)) {
            s->run(w);
        }
        w->client->data_callback_func = NULL;
        cJSON *document = cJSON_CreateObject();
        cJSON_AddStringToObject(document, "step", s->name);
        cJSON_AddBoolToObject(document, "ok", !failure);
        cJSON_AddStringToObject(document, "skipped", skipped ? skipped : "");
        cJSON_AddStringToObject(document, "message", failure ? failure : "");
        say(document);
    }
}

void finished(void) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddTrueToObject(document, "finished");
    say(document);
}

static char *vformat(const char *text, va_list args) {
    char *out = NULL;
    if (vasprintf(&out, text, args) < 0) {
        abort();
    }
    return out;
}

char *format(const char *text, ...) {
    va_list args;
    va_start(args, text);
    char *out = vformat(text, args);
    va_end(args);
    return out;
}

void fail(const char *file, int line, const char *text, ...) {
    va_list args;
    va_start(args, text);
    failure = format("%s:%d: %s", file, line, vformat(text, args));
    va_end(args);
    longjmp(step_end, 1);
}

void skip(const char *reason) {
    skipped = strdup(reason);
    longjmp(step_end, 1);
}

void equal(const char *file, int line, const char *got, const char *want) {
    if (!got || strcmp(got, want) != 0) {
        fail(file, line, "got %s, want %s", got ? got : "nothing", want);
    }
}

bool ask(const char *what) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "ask", what);
    say(document);
    char reply[32] = "";
    return fgets(reply, sizeof reply, stdin) && strcmp(reply, "done\n") == 0;
}

char *at(const char *json, const char *path) {
    cJSON *value = cJSON_Parse(json ? json : "");
    char *keys = strdup(path), *rest = keys;
    for (char *key; value && (key = strsep(&rest, "."));) {
        value = cJSON_GetObjectItemCaseSensitive(value, key);
    }
    if (!value) {
        return "";
    }
    return cJSON_IsString(value) ? value->valuestring : cJSON_PrintUnformatted(value);
}

void refused(const char *file, int line, const char *reply, const char *code, const char *reason) {
    if (strcmp(at(reply, "kind"), "Status") || strcmp(at(reply, "code"), code) || strcmp(at(reply, "reason"), reason)) {
        fail(file, line, "not refused with %s %s: %s", code, reason, reply ? reply : "no reply");
    }
}

list_t *pair_list(const char *key, ...) {
    list_t *list = list_createList();
    va_list args;
    va_start(args, key);
    for (; key; key = va_arg(args, const char *)) {
        list_addElement(list, keyValuePair_create(strdup(key), strdup(va_arg(args, const char *))));
    }
    va_end(args);
    return list;
}

void pause_briefly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

void gone(world *w, char *(*request)(world *w)) {
    time_t deadline = time(NULL) + 60;
    char *reply;
    do {
        if (time(NULL) > deadline) {
            FAIL("not gone after 60 s: %s", reply);
        }
        pause_briefly();
        reply = request(w);
    } while (w->client->response_code != 404);
}

char *invoke(apiClient_t *client, const char *method, const char *path, list_t *query, const char *accept, const char *body) {
    list_t *accepts = list_createList();
    list_addElement(accepts, (char *)accept);
    client->response_code = 0;
    apiClient_invoke(client, path, query, NULL, NULL, accepts, NULL, body, body ? strlen(body) : 0, method);
    char *reply = client->dataReceived ? client->dataReceived : strdup("");
    client->dataReceived = NULL;
    client->dataReceivedLen = 0;
    return reply;
}
