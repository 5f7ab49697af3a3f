# The service as a container image for linux/amd64 and linux/arm64. docs/deploying.md says how to build and run it.

# The Node that package.json asks for. The image needs no other one.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# --omit=optional would also leave out the binaries of sharp. So the second copy of Node is removed afterwards.
# No package that the service runs with needs its install script.
RUN npm ci --omit=dev --ignore-scripts --cache /tmp/npm \
  && rm -rf node_modules/node-linux-* node_modules/.cache /tmp/npm
WORKDIR /sources
COPY package.json LICENSE ./
COPY bin ./bin
COPY cli ./cli
COPY static ./static
COPY src ./src
# The files of a checkout have the rights that the umask of its owner leaves. The user of the service must be able to read them.
RUN chmod -R a+rX,go-w .
# GET /api/version shows these. A build without them shows "unknown".
ARG COMMIT=unknown
ARG BUILD_DATE=unknown
RUN printf '{"commit":"%s","build_date":"%s"}\n' "$COMMIT" "$BUILD_DATE" > build-info.json

FROM node:${NODE_VERSION}-bookworm-slim
# ffmpeg makes voice notes from the recordings of agents.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ffmpeg \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
  && install -d -o 1000 -g 1000 -m 0700 /data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /sources ./
# The compiled code of all modules more than halves the time of a start, in which callbacks are missed. Node keeps it apart for
# each user. Afterwards it belongs to root, as all of /app: the service cannot change its own code.
ENV NODE_COMPILE_CACHE=/app/compiled
RUN install -d -o 1000 -g 1000 compiled \
  && setpriv --reuid=1000 --regid=1000 --clear-groups node -e "import('/app/src/app/app.ts')" \
  && chown -R root:root compiled \
  && chmod -R a+rX,go-w compiled

ARG COMMIT=unknown
ARG BUILD_DATE=unknown
LABEL org.opencontainers.image.title="Causeway" \
  org.opencontainers.image.description="Self-hosted bridge between WhatsApp and a Chatwoot helpdesk" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="0.65.0" \
  org.opencontainers.image.revision="${COMMIT}" \
  org.opencontainers.image.created="${BUILD_DATE}"

ENV DATABASE_URL=file:/data/service.db
# Without a volume of its own, /data would end with the container, and with it the linked accounts.
VOLUME ["/data"]
EXPOSE 3100
# The user "node" of the base image. Kubernetes checks runAsNonRoot only if the user is a number.
USER 1000:1000
# Node is process 1 and gets the signal itself. It needs no init: it collects the only processes that it starts (ffmpeg).
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/start.cjs"]
HEALTHCHECK --interval=30s --timeout=6s --start-period=10m --retries=3 CMD ["node", "bin/health.cjs"]
