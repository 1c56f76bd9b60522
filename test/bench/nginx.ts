import { JSON_REPLIES } from './replies.ts';

/** All files that nginx writes are in its prefix, the folder of the run. */
const common = (name: string): string => `
worker_processes 1; daemon off; pid ${name}.pid; error_log ${name}.err warn;
events { worker_connections 8192; }
`;
const http = (name: string): string =>
  `
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s; client_max_body_size 64m; client_body_buffer_size 2m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${name}-${kind};`).join(' ')}`;

const reply = (value: object): string => `return 200 '${JSON.stringify(value)}';`;

/** The mock of JSON replies, port 9001. */
export const MOCK_CONF = `${common('mock')}
http {${http('mock')}
  tcp_nodelay on; default_type application/json;
  server {
    listen 127.0.0.1:9001 backlog=4096 reuseport;
    location / { ${reply(JSON_REPLIES.openai)} }
    location ~ messages$ { ${reply(JSON_REPLIES.anthropic)} }
    location ~ rawPredict { ${reply(JSON_REPLIES.anthropic)} }
    location ~ generateContent { ${reply(JSON_REPLIES.gemini)} }
  }
}
`;

/** nginx as a gateway, port 8800. */
export const PROXY_CONF = `${common('proxy')}
http {${http('proxy')}
  proxy_buffering off;
  ${[9001, 9002, 9003].map((port) => `upstream up${port} { server 127.0.0.1:${port}; keepalive 512; }`).join('\n  ')}
  map $http_x_up $up { default up9001; 9002 up9002; 9003 up9003; }
  server {
    listen 127.0.0.1:8800 backlog=4096;
    location / {
      proxy_pass http://$up; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Authorization "Bearer upstream-key";
    }
  }
}
`;
