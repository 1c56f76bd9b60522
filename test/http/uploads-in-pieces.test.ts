import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoogleGenAI } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { startGcs, type ScriptedGcs } from '../support/gcs.ts';
import { S3_BUCKET, S3_REGION, startS3, type ScriptedS3 } from '../support/s3.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';

/** Google's resumable uploads: the client announces a file, sends it in pieces, and asks how much has arrived. */

const MIB = 1024 * 1024;
const UNIT = 256 * 1024;
const OTHER = 'gatehouse-other-key-0123456789';

let folder: string;
let gcs: ScriptedGcs;
let s3: ScriptedS3;
let gateway: TestGateway;

const keys = {
  keys: [
    { id: 'test', key: `\${env:NONE:-${KEY}}` },
    { id: 'other', key: `\${env:NONE:-${OTHER}}`, files: { max_file_bytes: '1MiB', max_total_bytes: '1MiB' } },
  ],
};

const inFolder = async (): Promise<void> => {
  gateway = await startTestGateway({ server: { files: { dir: folder, idle_time: '2s' } }, keys });
};

const inBucket = async (): Promise<void> => {
  const account = {
    type: 'service_account',
    project_id: 'test-project',
    private_key: '${env:SA_KEY}',
    client_email: 'a@test-project.iam.gserviceaccount.com',
    token_uri: `${gcs.url}/token`,
  };
  const place = { provider: '@vertex', bucket: 'team-files', prefix: 'gh/', base_url: gcs.url, allow_insecure: true };
  gateway = await startTestGateway(
    {
      server: { egress: { token_uris: [`${gcs.url}/token`] }, files: { gcs: place } },
      catalog: {
        providers: [{ slug: 'vertex', provider: 'vertex-ai', region: 'us-central1', service_account: account }],
      },
      keys,
    },
    { env: { SA_KEY: testPrivateKey() } },
  );
};

const inS3 = async (): Promise<void> => {
  const place = { bucket: S3_BUCKET, region: S3_REGION, prefix: 'gh/', endpoint: s3.url, allow_insecure: true };
  const credentials = { access_key_id: '${env:S3_ID}', secret_access_key: '${env:S3_SECRET}' };
  gateway = await startTestGateway(
    { server: { files: { s3: { ...place, ...credentials } } }, keys },
    { env: { S3_ID: 'AKIDEXAMPLE', S3_SECRET: 'secret' } },
  );
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-pieces-'));
  gcs = await startGcs();
  s3 = await startS3({ id: 'AKIDEXAMPLE', secret: 'secret' });
});
afterEach(async () => {
  await gateway.close();
  await gcs.close();
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Step {
  readonly command: string;
  readonly url?: string;
  readonly offset?: number;
  readonly body?: Buffer | string;
  /** Null: none, as Google's Python client sends the pieces. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

async function step({ command, url = `${gateway.url}/upload/v1beta/files`, offset, body, key = KEY, headers }: Step) {
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      ...(key !== null && { 'x-goog-api-key': key }),
      'x-goog-upload-command': command,
      ...(offset !== undefined && { 'x-goog-upload-offset': String(offset) }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  return {
    status: reply.status,
    state: reply.headers.get('x-goog-upload-status'),
    received: Number(reply.headers.get('x-goog-upload-size-received')),
    url: reply.headers.get('x-goog-upload-url') ?? '',
    json: (await reply.json()) as { file?: { name: string; sizeBytes: string; mimeType: string }; error?: object },
  };
}

const bytesOf = (size: number): Buffer => Buffer.alloc(size, 'a');

const begin = (more: Partial<Step> = {}) =>
  step({
    command: 'start',
    body: JSON.stringify({ file: { displayName: 'a.bin', mimeType: 'application/octet-stream' } }),
    ...more,
  });

const stored = (): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => name);

/** Begins to send a piece and disconnects after some of it. */
async function interrupt(url: string, offset: number, bytes: Buffer): Promise<void> {
  const request = httpRequest(url, {
    method: 'POST',
    headers: {
      'x-goog-api-key': KEY,
      'x-goog-upload-command': 'upload, finalize',
      'x-goog-upload-offset': offset,
      'content-length': bytes.length + 1000,
    },
  });
  request.on('error', () => {});
  request.write(bytes);
  await new Promise((resume) => setTimeout(resume, 200));
  request.destroy();
}

describe.each([
  ['a folder', inFolder],
  ['a bucket', inBucket],
  ['S3', inS3],
])('an upload in pieces to %s', (_, start) => {
  const bytes = randomBytes(20 * MIB + 7);

  it('stores a file of 20 MiB of Google’s client', async () => {
    await start();
    const { files } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url } });
    const config = { mimeType: 'application/octet-stream', displayName: 'a.bin' };
    const file = await files.upload({ file: new Blob([bytes]), config });
    expect(file).toMatchObject({ displayName: 'a.bin', sizeBytes: String(bytes.length), state: 'ACTIVE' });
    const content = await fetch(`${gateway.url}/v1/${file.name}/content`, { headers: { 'x-gateway-api-key': KEY } });
    expect(hash('sha256', Buffer.from(await content.arrayBuffer()))).toBe(hash('sha256', bytes));
  });

  it('reports what has arrived, and continues there after an interruption', async () => {
    await start();
    const { url, state } = await begin();
    expect(state).toBe('active');
    expect(await step({ command: 'query', url })).toMatchObject({ status: 200, state: 'active', received: 0 });
    const first = await step({ command: 'upload', url, offset: 0, body: bytes.subarray(0, MIB) });
    expect(first).toMatchObject({ status: 200, state: 'active', received: MIB });
    await interrupt(url, MIB, bytes.subarray(MIB, 2 * MIB));
    await expect.poll(() => step({ command: 'query', url }), { timeout: 60_000 }).toMatchObject({ received: 2 * MIB });
    // The interrupted request may not have ended: a 503 until then.
    const wrong = () => step({ command: 'upload', url, offset: MIB, body: bytes.subarray(MIB, 2 * MIB) });
    await expect.poll(wrong, { timeout: 60_000 }).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining(String(2 * MIB)) } },
    });
    const last = { command: 'upload, finalize', url, offset: 2 * MIB, body: bytes.subarray(2 * MIB, 3 * MIB + 5) };
    const end = await step(last);
    expect(end).toMatchObject({ status: 200, state: 'final', json: { file: { sizeBytes: String(3 * MIB + 5) } } });
    // Its client may not have received the reply.
    expect(await step(last)).toMatchObject({ state: 'final', json: end.json });
    expect(await step({ command: 'query', url })).toMatchObject({ state: 'final', json: end.json });
  });

  it.each(['-1', '1e30', 'NaN', '0x10', '9'.repeat(20)])('does not begin with a length of %s', async (length) => {
    await start();
    const answer = await begin({ headers: { 'x-goog-upload-header-content-length': length } });
    expect(answer).toMatchObject({ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } });
  });

  it('ends with a request without bytes', async () => {
    await start();
    const { url } = await begin();
    await step({ command: 'upload', url, offset: 0, body: bytes.subarray(0, UNIT) });
    const end = await step({ command: 'finalize', url, offset: UNIT });
    expect(end).toMatchObject({ status: 200, state: 'final', json: { file: { sizeBytes: String(UNIT) } } });
  });

  it('leaves nothing when it is cancelled', async () => {
    await start();
    const { url } = await begin();
    await step({ command: 'upload', url, offset: 0, body: bytes.subarray(0, UNIT) });
    expect(await step({ command: 'cancel', url })).toMatchObject({ status: 200, state: 'cancelled' });
    expect(await step({ command: 'query', url })).toMatchObject({ status: 404 });
    expect([stored(), [...gcs.objects.keys()], gcs.sessions.size]).toEqual([[], [], 0]);
    expect([[...s3.objects.keys()], s3.uploads.size]).toEqual([[], 0]);
  });

  it('belongs to the key that began it', async () => {
    await start();
    const { url } = await begin();
    for (const command of ['query', 'cancel', 'upload'])
      expect(await step({ command, url, key: OTHER, offset: 0 })).toMatchObject({ status: 404 });
    expect(await step({ command: 'query', url })).toMatchObject({ status: 200 });
  });

  it('goes on without the key at the address that its start answered', async () => {
    await start();
    const { url } = await begin();
    const first = await step({ command: 'upload', url, key: null, offset: 0, body: bytes.subarray(0, MIB) });
    expect(first).toMatchObject({ status: 200, state: 'active', received: MIB });
    expect(await step({ command: 'query', url, key: null })).toMatchObject({ status: 200, received: MIB });
    const last = { command: 'upload, finalize', url, key: null, offset: MIB, body: 'x' };
    expect(await step(last)).toMatchObject({
      status: 200,
      state: 'final',
      json: { file: { sizeBytes: `${MIB + 1}` } },
    });
  });

  it('is bounded: its pieces, its bytes, and the uploads of a key', async () => {
    await start();
    const large = { 'x-goog-upload-header-content-length': String(2 * MIB) };
    expect(await begin({ key: OTHER, headers: large })).toMatchObject({ status: 413 });
    const { url } = await begin({ key: OTHER });
    const odd = await step({ command: 'upload', url, key: OTHER, offset: 0, body: bytes.subarray(0, 1000) });
    expect(odd).toMatchObject({ status: 400 });
    await step({ command: 'upload', url, key: OTHER, offset: 0, body: bytes.subarray(0, MIB) });
    const more = { command: 'upload, finalize', url, key: OTHER, offset: MIB, body: 'x' };
    expect(await step(more)).toMatchObject({ status: 413 });
    expect(await step(more)).toMatchObject({ status: 404 });
    const begun = await Promise.all(Array.from({ length: 40 }, () => begin()));
    expect(begun.filter(({ status }) => status === 200)).toHaveLength(16);
    expect(begun.filter(({ status }) => status === 403)).toHaveLength(24);
  });
});

/** Sends a piece in two parts. The second one leaves once `go` has resolved. */
function slowly(url: string, [first, second]: readonly [Buffer, Buffer], go: Promise<void>, announced = true) {
  const request = httpRequest(url, {
    method: 'POST',
    headers: {
      'x-goog-api-key': OTHER,
      'x-goog-upload-command': 'upload',
      'x-goog-upload-offset': 0,
      ...(announced && { 'content-length': first.length + second.length }),
    },
  });
  const replied = new Promise<number>((resolve) => {
    request.on('response', (reply) => resolve(reply.resume().statusCode ?? 0)).on('error', () => resolve(0));
  });
  request.write(first);
  void go.then(() => request.end(second));
  return replied;
}

describe.each([
  ['a folder', inFolder],
  ['a bucket', inBucket],
  ['S3', inS3],
])('uploads in pieces of one key to %s', (_, start) => {
  const half = randomBytes(UNIT);

  it('never hold more than its total together, however many arrive at once', async () => {
    await start();
    const urls = await Promise.all(Array.from({ length: 6 }, async () => (await begin({ key: OTHER })).url));
    const { promise: go, resolve: proceed } = Promise.withResolvers<void>();
    const replies = urls.map((url) => slowly(url, [half, half], go));
    await new Promise((resume) => setTimeout(resume, 300));
    proceed();
    const statuses = await Promise.all(replies);
    // The total is 1 MiB, and each piece has half of it.
    expect(statuses.toSorted()).toEqual([200, 200, 403, 403, 403, 403]);
    const left = await Promise.all(urls.map((url) => step({ command: 'query', url, key: OTHER })));
    const received = left.reduce((sum, one) => sum + (one.status === 200 ? one.received : 0), 0);
    expect(received).toBe(MIB);
    const more = await begin({ key: OTHER, headers: { 'x-goog-upload-header-content-length': '1' } });
    expect(more.status).toBe(403);
  });

  it('have the room of a file that is removed while a piece of unknown length arrives', async () => {
    await start();
    const { url } = await begin({ key: OTHER });
    const { json } = await step({
      command: 'upload, finalize',
      url,
      key: OTHER,
      offset: 0,
      body: randomBytes(3 * UNIT),
    });
    const { promise: go, resolve: proceed } = Promise.withResolvers<void>();
    const second = slowly((await begin({ key: OTHER })).url, [half, half], go, false);
    await new Promise((resume) => setTimeout(resume, 200));
    const headers = { 'x-goog-api-key': OTHER };
    const removed = await fetch(`${gateway.url}/v1beta/${json.file?.name}`, { method: 'DELETE', headers });
    expect(removed.status).toBe(200);
    proceed();
    expect(await second).toBe(200);
  });
});

describe('the address of an upload in pieces', () => {
  const piece = { command: 'upload', key: null, offset: 0, body: Buffer.alloc(UNIT) };
  const refused = { status: 401, state: null, json: { error: { status: 'UNAUTHENTICATED' } } };

  it('is a credential for its own upload alone', async () => {
    await inFolder();
    const [{ url }, other] = [await begin(), await begin()];
    const grant = new URL(url).searchParams.get('key') ?? '';
    const id = (address: string): string => new URL(address).searchParams.get('upload_id') ?? '';
    const at = (path: string): string => `${gateway.url}${path}${path.includes('?') ? '&' : '?'}key=${grant}`;
    for (const wrong of [
      url.replace(`&key=${grant}`, ''),
      url.replace(grant, `${grant.slice(0, -2)}AA`),
      url.replace(id(url), id(other.url)),
      url.replace(id(url), ''),
      at('/upload/v1beta/files'),
    ])
      expect(await step({ ...piece, url: wrong }), wrong).toMatchObject(refused);
    expect(await begin({ url: at('/upload/v1beta/files'), key: null })).toMatchObject(refused);
    expect(await begin({ url, key: null })).toMatchObject({ status: 400 });
    for (const path of ['/v1beta/models', '/v1beta/files', `/v1beta/files?upload_id=${id(url)}`])
      expect((await fetch(at(path))).status, path).toBe(401);
    const header = await fetch(`${gateway.url}/v1beta/files`, { headers: { 'x-goog-api-key': grant } });
    expect(header.status).toBe(401);
    expect(await step({ ...piece, url })).toMatchObject({ status: 200, received: UNIT });
  });

  it('ends with the key that began the upload', async () => {
    await inFolder();
    const { url } = await begin();
    expect(await step({ ...piece, url })).toMatchObject({ status: 200 });
    writeFileSync(join(gateway.configs, 'keys.yaml'), JSON.stringify({ keys: keys.keys.slice(1) }));
    await gateway.gateway.reload();
    expect(await step({ ...piece, url, offset: UNIT })).toMatchObject(refused);
  });

  it('has the limits of that key', async () => {
    await inFolder();
    const { url } = await begin({ key: OTHER });
    expect(await step({ ...piece, url, body: bytesOf(2 * MIB) })).toMatchObject({ status: 413 });
  });

  it('is in no log and no record', async () => {
    await inFolder();
    const { url } = await begin();
    const grant = new URL(url).searchParams.get('key') ?? '';
    await step({ ...piece, url });
    await step({ ...piece, url, offset: 7 });
    await step({ ...piece, url: url.replace('upload_id', 'other') });
    const seen = gateway.logText() + JSON.stringify(gateway.gateway.records({ limit: 100 }));
    expect(seen).toContain('/upload/v1beta/files');
    expect(grant).not.toBe('');
    expect(seen).not.toContain(grant.slice(-20));
  });
});

describe('an upload in pieces to a folder', () => {
  it('counts in the number of unfinished ones as the settings say', async () => {
    gateway = await startTestGateway({ server: { files: { dir: folder, unfinished_uploads: 2 } }, keys });
    const begun = await Promise.all(Array.from({ length: 4 }, () => begin()));
    expect(begun.map(({ status }) => status).toSorted()).toEqual([200, 200, 403, 403]);
  });

  it('is refused when its start does not arrive completely', { timeout: 120_000 }, async () => {
    await inFolder();
    const request = httpRequest(`${gateway.url}/upload/v1beta/files`, {
      method: 'POST',
      headers: { 'x-goog-api-key': KEY, 'x-goog-upload-command': 'start', 'content-length': 100 },
    });
    request.on('error', () => {});
    request.write('{"file":');
    const [reply] = (await once(request, 'response')) as [{ statusCode: number }];
    expect(reply.statusCode).toBe(408);
    request.destroy();
  });

  it('is continued by one request at a time', async () => {
    await inFolder();
    const { url } = await begin();
    const slow = interrupt(url, 0, randomBytes(UNIT));
    await until(() => stored().some((name) => name.startsWith('.partial.')), 'the piece arrives');
    const second = await step({ command: 'upload', url, offset: 0, body: randomBytes(UNIT) });
    expect(second).toMatchObject({ status: 503 });
    expect(await step({ command: 'query', url })).toMatchObject({ status: 200, state: 'active' });
    await slow;
  });

  it('ends an hour after its last piece', async () => {
    await inFolder();
    const { url } = await begin();
    await step({ command: 'upload', url, offset: 0, body: randomBytes(UNIT) });
    const [name = ''] = stored();
    const [owner = ''] = readdirSync(folder);
    const past = new Date(Date.now() - 61 * 60 * 1000);
    utimesSync(join(folder, owner, name), past, past);
    expect(await step({ command: 'query', url })).toMatchObject({ status: 404 });
    await gateway.close();
    await inFolder();
    await until(() => stored().length === 0, 'it is swept');
  });

  it('holds none of it in memory', async () => {
    await inFolder();
    const { url } = await begin();
    const megabytes = 192;
    const headers = {
      'x-goog-api-key': KEY,
      'x-goog-upload-command': 'upload',
      'x-goog-upload-offset': 0,
      'content-length': megabytes * MIB,
    };
    const request = httpRequest(url, { method: 'POST', headers });
    const replied = new Promise((resolve) => request.on('response', (reply) => resolve(reply.resume().statusCode)));
    const megabyte = Buffer.alloc(MIB, 'a');
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    for (let sent = 0; sent < megabytes; sent += 1) {
      if (!request.write(megabyte)) await once(request, 'drain');
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    request.end();
    expect(await replied).toBe(200);
    expect((await step({ command: 'query', url })).received).toBe(megabytes * MIB);
    // The buffers of the sockets, and garbage.
    expect(peak).toBeLessThan((megabytes / 2) * MIB);
  });
});
