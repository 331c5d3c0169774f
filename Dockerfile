# A static binary on an empty image: nothing in it but Gatehouse and the certificate authorities.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/gatehouse ./cmd/gatehouse \
 && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/gatehouse /usr/local/bin/gatehouse
COPY --from=build --chown=65532:65532 /out/data /data
ENV GATEHOUSE_LISTEN=0.0.0.0:8080 GATEHOUSE_DATA_DIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 8080
ENV PATH=/usr/local/bin
ENTRYPOINT ["gatehouse"]
CMD ["serve"]
