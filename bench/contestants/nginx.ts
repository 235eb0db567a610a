// nginx as a plain proxy, one worker process, and the parts that nginx with Lua shares with it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Contestant, type Surroundings, startCommand } from '../contestants.ts';
import { CORES } from '../machine.ts';

export function startNginx(surroundings: Surroundings): Promise<Contestant> {
  return startConfigured('nginx: plain proxy', surroundings, { modules: '', http: 'access_log off;', location: '' });
}

/** Pieces of an nginx configuration. */
interface NginxParts {
  readonly modules: string;
  readonly http: string;
  readonly location: string;
}

/** Everything nginx writes stays in the contestant's own directory. */
export async function startConfigured(
  name: string,
  { directory, port, upstreamUrl, keys }: Surroundings,
  parts: NginxParts,
): Promise<Contestant> {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, configuration(port, new URL(upstreamUrl).host, parts));
  const command = ['nginx', '-e', 'stderr', '-p', directory, '-c', file];
  return { name, port, keys, process: await startCommand(command, CORES.contestant, port) };
}

// All connections to the upstream are kept.
const configuration = (port: number, upstream: string, { modules, http, location }: NginxParts) => `
${modules}
daemon off;
worker_processes 1;
user root;
pid nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 100000000;
  keepalive_timeout 60s;
  client_body_buffer_size 64k;
  ${http}
  upstream platform {
    server ${upstream};
    keepalive 128;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      ${location}
      proxy_pass http://platform;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }
}
`;
