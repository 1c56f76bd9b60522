import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { KEY } from '../support/gateway.ts';
import type { Issued } from '../../src/core/settings/read/certificates.testkit.ts';

/** A folder of certificates that a test may replace. */
export interface CertificateFolder {
  readonly cert: string;
  readonly key: string;
  path(name: string): string;
  /** Writes `tls.crt` and `tls.key`. */
  install(issued: Issued): void;
  write(name: string, text: string): void;
}

export function certificateFolder(): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  const write = (name: string, text: string): void => writeFileSync(path(name), text);
  return {
    cert: path('tls.crt'),
    key: path('tls.key'),
    path,
    write,
    install(issued) {
      write('tls.key', issued.key);
      write('tls.crt', issued.cert);
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Fingerprint of the server's certificate. */
  readonly fingerprint: string;
}

export interface Asked {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly tls?: RequestOptions & { readonly session?: Buffer };
}

/** One request over a connection of its own. */
export function ask(
  url: string,
  ca: string,
  { path = '/v1/chat/completions', headers, body, tls }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let fingerprint = '';
    const sent = request(
      `${url}${path}`,
      {
        method: 'POST',
        agent: false,
        ca,
        headers: { 'content-type': 'application/json', ...(headers ?? { 'x-gateway-api-key': KEY }) },
        ...tls,
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(pieces).toString(),
            fingerprint,
          }),
        );
      },
    );
    sent.on('socket', (socket) =>
      socket.once('secureConnect', () => {
        // It is one: the URL is of https.
        const { fingerprint256 } = (socket as TLSSocket).getPeerCertificate();
        fingerprint = fingerprint256;
      }),
    );
    sent.on('error', reject);
    if (tls?.method === 'GET') sent.end();
    else sent.end(JSON.stringify(body ?? { model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] }));
  });
}
