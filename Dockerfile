# syntax=docker/dockerfile:1
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What is built is said by --build-arg COMMIT="$(git rev-parse HEAD)", as the repository
# does not come along; DATE is when that was, as in 2026-01-31T12:00:00Z.
ARG COMMIT="" DATE=""
# Static, without paths of the build machine; /data belongs to the user below.
RUN CGO_ENABLED=0 go build -trimpath -o /out/wasmgate \
    -ldflags="-s -w -X github.com/wasmgate/wasmgate/lifecycle.commit=$COMMIT -X github.com/wasmgate/wasmgate/lifecycle.date=$DATE" . \
 && mkdir -p /out/data

FROM gcr.io/distroless/static:nonroot
COPY --from=build /out/wasmgate /wasmgate
COPY --from=build --chown=65532:65532 --chmod=0700 /out/data /data
USER 65532:65532
VOLUME /data
EXPOSE 6443
# In a container, the outside is another address: listen on all of them.
ENV WASMGATE_DATA_DIR=/data WASMGATE_BIND_ADDRESS=0.0.0.0
ENTRYPOINT ["/wasmgate"]
CMD ["serve"]
