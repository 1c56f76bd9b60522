# The image of Gatehouse, from the packed package: npm pack && docker build -t gatehouse .
# docs/operate/deploy.md says how it is run, and how the base image is pinned.

# Pin the base image by its digest for a build that can be repeated:
#   docker build --build-arg NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:… .
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS install
WORKDIR /opt/gatehouse
COPY gatehouse-gateway-*.tgz ./
# `--omit=optional` leaves OpenTelemetry out: 64 MB become 29.
ARG NPM_FLAGS=""
# `pg` is for a state store in PostgreSQL, `@redis/client` for `state.shared`.
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund ${NPM_FLAGS} ./gatehouse-gateway-*.tgz pg@8.23.1 @redis/client@6.3.1
RUN rm gatehouse-gateway-*.tgz && mkdir empty && node node_modules/.bin/gatehouse version

FROM ${NODE_IMAGE}
WORKDIR /opt/gatehouse
COPY --from=install /opt/gatehouse ./
# A new volume gets the owner of this folder, so that the user of the image can write `state` to it.
COPY --from=install --chown=1000:1000 /opt/gatehouse/empty /var/lib/gatehouse
# A container has a network of its own: its listeners are open in it, and `docker run -p` decides what leaves it.
# SQLite writes temporary files of the state store beside it, because the root may be read-only.
ENV GATEHOUSE_HOST=0.0.0.0 NODE_ENV=production SQLITE_TMPDIR=/var/lib/gatehouse
# The user `node` of the base image, by number: Kubernetes checks `runAsNonRoot` by it.
USER 1000:1000
# Requests, and the status listener. Do not publish the second.
EXPOSE 8787 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 CMD ["node", "/opt/gatehouse/node_modules/.bin/gatehouse", "ready", "--configs", "/etc/gatehouse"]
ENTRYPOINT ["node", "--disable-sigusr1", "/opt/gatehouse/node_modules/.bin/gatehouse"]
CMD ["serve", "--configs", "/etc/gatehouse"]
