# One artefact, no build step: Node runs the TypeScript sources as they are.
# The base is the newest release of the Node 24 line at the time of the build: build with --pull, and again after a security release.
# The image itself is not built in CI, where there is no container engine. `deploy/try-image` runs the steps of this file there instead:
# the same files, the same installation, a read-only tree, an account that owns nothing, the health check, SIGTERM.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production GATEWAY_DATA=/data ADMIN_HOST=127.0.0.1
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY bin ./bin
COPY gateway ./gateway
COPY sandbox ./sandbox
COPY openapi ./openapi
COPY config ./config
COPY docs/guides ./docs/guides
COPY docs/operations.md docs/alerts.md ./docs/
COPY deploy/backup-data ./deploy/backup-data
RUN mkdir /data && chown node:node /data
# By number, since Kubernetes only then knows that it is not root (runAsNonRoot).
USER 1000:1000
# The one place that is written to: run it with a read-only root (`docker run --read-only`).
VOLUME /data
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT||9090}/readyz`).then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# The wrapper replaces itself by Node, so SIGTERM reaches it, and it drains.
CMD ["bin/gateway", "start"]
