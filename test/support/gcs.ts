import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredObject {
  bytes: Buffer;
  contentType: string;
  metadata: Record<string, string> | undefined;
  timeCreated: string;
}

interface Session {
  readonly name: string;
  readonly pieces: Buffer[];
  size: number;
}

export interface ScriptedGcs {
  readonly url: string;
  readonly objects: ReadonlyMap<string, StoredObject>;
  readonly sessions: ReadonlyMap<string, Session>;
  /** Method and path of each request, with the range of an upload's piece. */
  readonly calls: readonly string[];
  /** Authorization headers of calls to the storage API. */
  readonly tokens: ReadonlySet<string | undefined>;
  /** Called before each piece of an upload: keeps this many of its bytes and answers with a 503; undefined keeps all. */
  breaking: ((piece: number) => number | undefined) | undefined;
  close(): Promise<void>;
}

/** Cloud Storage on loopback, with the token endpoint of a service account (docs/protocols/files.md#cloud-storage). */
export async function startGcs(): Promise<ScriptedGcs> {
  const objects = new Map<string, StoredObject>();
  const sessions = new Map<string, Session>();
  /** Names of objects by the sessions that made them. */
  const complete = new Map<string, string>();
  const calls: string[] = [];
  const tokens = new Set<string | undefined>();
  let pieces = 0;
  const gcs = { breaking: undefined as ScriptedGcs['breaking'] };

  const json = (res: ServerResponse, body: object): void =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  function upload(req: IncomingMessage, res: ServerResponse, { id, body }: { id: string; body: Buffer }): void {
    const session = sessions.get(id);
    const done = complete.get(id);
    if (done !== undefined) return json(res, { name: done });
    if (!session) return void res.writeHead(410).end();
    if (req.method === 'DELETE') {
      sessions.delete(id);
      return void res.writeHead(499).end();
    }
    const range = req.headers['content-range'] ?? '';
    const kept = body.length > 0 ? gcs.breaking?.((pieces += 1)) : undefined;
    const arrived = kept === undefined ? body : body.subarray(0, kept);
    session.pieces.push(arrived);
    session.size += arrived.length;
    const total = range.split('/')[1];
    if (total !== '*' && Number(total) === session.size) {
      sessions.delete(id);
      const bytes = Buffer.concat(session.pieces);
      const timeCreated = new Date().toISOString();
      complete.set(id, session.name);
      objects.set(session.name, { bytes, contentType: 'application/octet-stream', metadata: undefined, timeCreated });
      return kept === undefined ? json(res, { name: session.name }) : void res.writeHead(503).end();
    }
    if (kept !== undefined) return void res.writeHead(503).end();
    res.writeHead(308, session.size > 0 ? { range: `bytes=0-${session.size - 1}` } : {}).end();
  }

  function object(req: IncomingMessage, res: ServerResponse, { name, body }: { name: string; body: Buffer }): void {
    const found = objects.get(name);
    if (!found) return void res.writeHead(404).end();
    if (req.method === 'DELETE') {
      objects.delete(name);
      return void res.writeHead(204).end();
    }
    if (req.method === 'PATCH') {
      Object.assign(found, JSON.parse(body.toString()));
      return json(res, { name });
    }
    const [first = 0, last = 0] = (/^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '') ?? []).slice(1).map(Number);
    res.writeHead(206, { 'content-type': found.contentType }).end(found.bytes.subarray(first, last + 1));
  }

  const server = createServer((req, res) => {
    const collected: Buffer[] = [];
    req.on('data', (piece: Buffer) => collected.push(piece));
    req.on('end', () => {
      const body = Buffer.concat(collected);
      const url = new URL(req.url ?? '', 'http://gcs');
      calls.push([req.method, url.pathname, req.headers['content-range']].filter(Boolean).join(' '));
      if (url.pathname === '/token')
        return json(res, { access_token: 'gcs-token', expires_in: 3599, token_type: 'Bearer' });
      tokens.add(req.headers.authorization);
      if (url.pathname === '/session') return upload(req, res, { id: url.searchParams.get('id') ?? '', body });
      if (url.searchParams.get('uploadType') === 'media') {
        const [name, timeCreated] = [url.searchParams.get('name') ?? '', new Date().toISOString()];
        objects.set(name, {
          bytes: body,
          contentType: req.headers['content-type'] ?? '',
          metadata: undefined,
          timeCreated,
        });
        return json(res, { name });
      }
      if (url.pathname.startsWith('/upload/')) {
        const id = String(sessions.size + calls.length);
        sessions.set(id, { name: url.searchParams.get('name') ?? '', pieces: [], size: 0 });
        return void res.writeHead(200, { location: `http://${req.headers.host}/session?id=${id}` }).end();
      }
      const name = /\/o\/(.+)$/.exec(url.pathname)?.[1];
      if (name !== undefined) return object(req, res, { name: decodeURIComponent(name), body });
      const prefix = url.searchParams.get('prefix') ?? '';
      const items = [...objects]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { bytes, ...rest }]) => ({ name: key, size: String(bytes.length), ...rest }));
      json(res, { items });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return Object.assign(gcs, {
    url: `http://127.0.0.1:${port}`,
    objects,
    sessions,
    calls,
    tokens,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
