import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ask, call, upload } from '../support/files.ts';
import { fences, readPage } from '../docs/pages.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { s3Error, S3_BUCKET, S3_REGION, startS3, type S3Call, type ScriptedS3 } from '../support/s3.ts';
import { json, openaiReply, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const MIB = 1024 * 1024;

/** Each is a word of its own, which nothing that comes out may have. */
const CREDENTIALS = { id: 'CANARYKEYID7F3A', secret: 'canary/secret+55ab02', token: 'canary-token//e10c77==' };

let s3: ScriptedS3;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

const settingsOf = (more: object = {}) => ({
  server: {
    limits: { body: '10MiB', in_flight_bytes: '64MiB' },
    telemetry: { log: { level: 'debug' } },
    files: {
      s3: {
        bucket: S3_BUCKET,
        region: S3_REGION,
        endpoint: s3.url,
        prefix: 'gh/',
        access_key_id: '${env:S3_ID}',
        secret_access_key: '${env:S3_SECRET}',
        session_token: '${env:S3_TOKEN}',
        allow_insecure: true,
        ...more,
      },
      inline_bytes: '1MiB',
    },
  },
  catalog: {
    providers: [
      {
        slug: 'open',
        provider: 'openai',
        api_key: '${env:NONE:-sk-x}',
        base_url: `${upstream.url}/v1`,
        allow_insecure: true,
      },
    ],
  },
});

const env = { S3_ID: CREDENTIALS.id, S3_SECRET: CREDENTIALS.secret, S3_TOKEN: CREDENTIALS.token };

beforeEach(async () => {
  s3 = await startS3(CREDENTIALS);
  upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
  gateway = await startTestGateway(settingsOf(), { env });
});
afterEach(async () => {
  await gateway.close();
  await s3.close();
  await upstream.close();
});

const pdf = (size: number): Buffer => Buffer.concat([Buffer.from('%PDF-1.7'), randomBytes(size)]);

async function contentOf(id: string): Promise<Buffer> {
  const reply = await fetch(`${gateway.url}/v1/files/${id}/content`, { headers: { 'x-gateway-api-key': KEY } });
  return Buffer.from(await reply.arrayBuffer());
}

/** Fails the operation this many times. */
function failing(does: string, times: number, answer: ReturnType<NonNullable<ScriptedS3['script']>>) {
  let left = times;
  s3.script = (one: S3Call) => (one.does === does && left-- > 0 ? answer : undefined);
}

const nothingIsLeft = (): void => {
  expect([[...s3.objects.keys()], [...s3.uploads.keys()]]).toEqual([[], []]);
};

describe('files in S3', () => {
  it('arrive in parts and are read, listed and deleted there, each call with a signature that S3 takes', async () => {
    const bytes = pdf(20 * MIB);
    s3.calls.length = 0;
    const { status, body } = await upload(gateway, { filename: 'Bericht ü.pdf', file: new Blob([bytes]) });
    expect([status, body]).toMatchObject([200, { bytes: bytes.length, filename: 'Bericht ü.pdf' }]);
    expect(s3.calls.filter((one) => !one.startsWith('LIST'))).toEqual([
      'BEGIN',
      'PART 1',
      'PART 2',
      'PART 3',
      'JOIN',
      'COPY',
      'DELETE',
    ]);
    const [[name, object] = []] = s3.objects;
    expect(name).toMatch(new RegExp(`^gh/test\\.[0-9a-f]{16}/${body.id}\\.user_data\\.[0-9a-z]{8}$`));
    expect(object).toMatchObject({ contentType: 'application/pdf' });
    expect([s3.objects.size, s3.uploads.size, object!.bytes.equals(bytes)]).toEqual([1, 0, true]);
    expect((await contentOf(body.id)).equals(bytes)).toBe(true);
    expect((await call(gateway, '')).body.data).toMatchObject([{ id: body.id, filename: 'Bericht ü.pdf' }]);
    expect((await call(gateway, `/${body.id}`, { method: 'DELETE' })).status).toBe(200);
    nothingIsLeft();
    expect(s3.refusals).toEqual([]);
  });

  it('that fit into one chunk are put whole', async () => {
    s3.calls.length = 0;
    const { status } = await upload(gateway, {});
    expect([status, s3.calls.filter((one) => !one.startsWith('LIST'))]).toEqual([200, ['PUT', 'COPY', 'DELETE']]);
  });

  it('reach every target by their bytes', async () => {
    const { body } = await upload(gateway, {});
    expect((await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: body.id } })).status).toBe(200);
    expect(upstream.seen[0]?.text).toContain(`data:application/pdf;base64,${btoa('%PDF-1.7\n')}`);
  });

  it('are listed in pages of the store', async () => {
    s3.page = 2;
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push((await upload(gateway, {})).body.id);
    const { body } = await call(gateway, '?order=asc');
    expect(body.data?.map(({ id }) => id)).toEqual(ids.toSorted());
  });

  it('leave neither object nor upload when they are refused', async () => {
    const big = Buffer.concat([Buffer.from('no image'), Buffer.alloc(9 * MIB)]);
    const { status } = await upload(gateway, { filename: 'a.png', file: new Blob([big]) });
    expect(status).toBe(400);
    nothingIsLeft();
  });
});

describe('docs/route/files-in-s3.md', () => {
  it('has settings that store files', async () => {
    await gateway.close();
    const [page = ''] = fences(readPage('docs/route/files-in-s3.md'), 'yaml');
    const { files } = parse(page) as { files: { s3: object } };
    const here = { region: S3_REGION, endpoint: s3.url, allow_insecure: true };
    s3.credentials = { id: 'DOCS', secret: 'docs-secret' };
    gateway = await startTestGateway(
      { server: { files: { ...files, s3: { ...files.s3, ...here } } } },
      { env: { AWS_ACCESS_KEY_ID: 'DOCS', AWS_SECRET_ACCESS_KEY: 'docs-secret' } },
    );
    const { status, body } = await upload(gateway, {});
    expect([status, [...s3.objects.keys()]]).toEqual([
      200,
      [expect.stringMatching(new RegExp(`^gatehouse/test\\.[0-9a-f]{16}/${body.id}\\.`))],
    ]);
  });
});

describe('a store of S3 that fails', () => {
  const slowDown = s3Error(503, 'SlowDown');

  it.each(['BEGIN', 'PART 2', 'JOIN', 'COPY', 'LIST'])('is asked again after a SlowDown of %s', async (does) => {
    failing(does, 2, slowDown);
    const bytes = pdf(12 * MIB);
    const { status, body } = await upload(gateway, { file: new Blob([bytes]) });
    expect([status, s3.objects.size, s3.uploads.size]).toEqual([200, 1, 0]);
    expect((await contentOf(body.id)).equals(bytes)).toBe(true);
  });

  it.each([
    ['an error in a 200 for the parts', 'JOIN', { status: 200, body: slowDown.body }],
    ['an error in a 200 for the copy', 'COPY', { status: 200, body: slowDown.body }],
    ['a connection that ends with a part', 'PART 1', { cut: true }],
    ['a lost reply to a part', 'PART 2', { cut: true, after: true }],
    ['a lost reply to the join', 'JOIN', { cut: true, after: true }],
    ['a lost reply to the copy', 'COPY', { cut: true, after: true }],
  ])('is asked again after %s', async (_, does, answer) => {
    failing(does, 1, answer);
    const bytes = pdf(12 * MIB);
    const { status, body } = await upload(gateway, { file: new Blob([bytes]) });
    expect([status, s3.objects.size, s3.uploads.size]).toEqual([200, 1, 0]);
    expect((await contentOf(body.id)).equals(bytes)).toBe(true);
  });

  it.each(['PUT', 'PART 2', 'JOIN', 'COPY'])(
    'is the client’s 502 after four tries of %s, and no file',
    async (does) => {
      failing(does, 1000, s3Error(500, 'InternalError'));
      const { status, body } = await upload(gateway, { file: new Blob([pdf(does === 'PUT' ? 9 : 12 * MIB)]) });
      expect([status, body.error?.code, body.error?.message]).toEqual([
        502,
        'file_store_failed',
        'S3 failed: it replied with status 500 (InternalError).',
      ]);
      expect(s3.calls.filter((one) => one === does)).toHaveLength(4);
      nothingIsLeft();
    },
  );

  it.each([
    [
      'a part with another ETag',
      'PART 1',
      { status: 200, headers: { etag: '"00000000000000000000000000000000"' }, after: true },
    ],
    ['a part without an ETag', 'PART 1', { status: 200, after: true }],
    ['an ETag that would break out of XML', 'PART 1', { status: 200, headers: { etag: '"</ETag><a>"' }, after: true }],
    ['a beginning without an id', 'BEGIN', { body: '<InitiateMultipartUploadResult></InitiateMultipartUploadResult>' }],
    ['a beginning that is a web page', 'BEGIN', { body: '<!DOCTYPE html><html>Log in</html>' }],
    ['a join that is none', 'JOIN', { status: 200, body: '<a></a>' }],
    ['a part without an end', 'PART 1', { endless: true }],
    ['a join without an end', 'JOIN', { endless: true }],
    ['a listing without an end', 'LIST', { endless: true }],
    ['an error without an end', 'COPY', { status: 403, endless: true }],
    ['a copy that is none', 'COPY', { status: 200, body: '' }],
    ['a listing that is a web page', 'LIST', { body: '<!DOCTYPE html><html>Log in</html>' }],
    ['a listing that is empty', 'LIST', { body: '' }],
    [
      'a listing of sizes below zero',
      'LIST',
      {
        body: `<ListBucketResult><Contents><Key>gh/test.0/file-gh${'0'.repeat(12)}7${'0'.repeat(3)}8${'0'.repeat(15)}.pending</Key><Size>-5</Size></Contents></ListBucketResult>`,
      },
    ],
  ])('with %s is a 502', async (_, does, answer) => {
    failing(does, 1000, answer);
    const { status, body } = await upload(gateway, { file: new Blob([pdf(12 * MIB)]) });
    expect([status, body.error?.code]).toEqual([502, 'file_store_failed']);
    s3.script = undefined;
    expect((await call(gateway, '')).body.data).toEqual([]);
  });

  it('that has less than was sent keeps no file', async () => {
    s3.script = ({ does }) => {
      if (does === 'LIST') for (const one of s3.objects.values()) one.bytes = one.bytes.subarray(0, 5);
      return undefined;
    };
    const { status, body } = await upload(gateway, {});
    expect([status, body.error?.message]).toEqual([502, expect.stringContaining('not as long as what was sent')]);
    nothingIsLeft();
  });

  it('whose object changes while it is read, or is shorter than its listing says, cuts the reply', async () => {
    const { body } = await upload(gateway, { file: new Blob([pdf(6 * MIB)]) });
    let reads = 0;
    s3.script = ({ does, key }) => {
      const object = s3.objects.get(key);
      if (does === 'GET' && (reads += 1) === 3 && object) s3.objects.set(key, { ...object, etag: '"other"' });
      return undefined;
    };
    await expect(contentOf(body.id)).rejects.toThrow();
    const [object] = s3.objects.values();
    s3.script = ({ does }) => {
      if (does === 'GET') object!.bytes = object!.bytes.subarray(0, MIB);
      return undefined;
    };
    const reply = await call(gateway, `/${body.id}`);
    expect([reply.status, reply.body.error?.code]).toEqual([502, 'file_store_failed']);
  });

  it('ends a multipart upload whose client goes away', async () => {
    const abort = new AbortController();
    const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(head);
      for (let sent = 0; sent < 10; sent += 1) yield Buffer.alloc(MIB);
      await until(() => s3.uploads.size === 1, 'the first part is there');
      abort.abort();
    };
    const headers = { 'x-gateway-api-key': KEY, 'content-type': 'multipart/form-data; boundary=b' };
    // `duplex` is missing in the types of fetch.
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers,
      body: ReadableStream.from(pieces()),
      duplex: 'half',
      signal: abort.signal,
    };
    await expect(fetch(`${gateway.url}/v1/files`, init)).rejects.toThrow();
    await until(() => s3.calls.includes('ABORT'), 'the upload is ended');
    await until(() => s3.uploads.size === 0, 'the upload is gone');
    nothingIsLeft();
  });
});

describe('the credentials of S3', () => {
  const outputs = async (): Promise<string> => {
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    return gateway.logText() + metrics + inspect(gateway.gateway.records({ limit: 100 }), { depth: 9 });
  };

  it('are in no log line, record, metric and error, also where S3 quotes a request with them', async () => {
    const replies = [(await upload(gateway, {})).body];
    // The signature is wrong, and S3 answers with the request that it has signed, its session token among it.
    s3.credentials = { ...CREDENTIALS, secret: 'another' };
    replies.push((await upload(gateway, {})).body, (await call(gateway, '')).body);
    s3.credentials = { ...CREDENTIALS, id: 'another' };
    replies.push((await upload(gateway, {})).body);
    const quote = Object.values(CREDENTIALS).join(' ');
    s3.script = () => ({ status: 403, body: `<Error><Code>${quote}</Code><Message>${quote}</Message></Error>` });
    replies.push((await upload(gateway, {})).body);
    s3.script = () => ({ status: 403, body: quote, headers: { 'x-amz-request-id': quote } });
    replies.push((await upload(gateway, {})).body);
    const seen = `${JSON.stringify(replies)}${await outputs()}`;
    expect(s3.refusals).toEqual(expect.arrayContaining(['SignatureDoesNotMatch', 'InvalidAccessKeyId']));
    expect(seen).toContain('SignatureDoesNotMatch');
    for (const secret of Object.values(CREDENTIALS)) {
      expect(seen).not.toContain(secret);
      expect(seen).not.toContain(encodeURIComponent(secret));
    }
  });

  it('are read again when their files change, and the request does not wait for a restart', async () => {
    await gateway.close();
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-s3-'));
    const write = (credentials: typeof CREDENTIALS): void => {
      for (const name of ['id', 'secret', 'token'] as const) {
        writeFileSync(join(folder, `${name}.new`), `${credentials[name]}\n`);
        renameSync(join(folder, `${name}.new`), join(folder, name));
      }
    };
    write(CREDENTIALS);
    const [id, secret, token] = ['id', 'secret', 'token'].map((name) => `\${file:${join(folder, name)}}`);
    const references = { access_key_id: id, secret_access_key: secret, session_token: token };
    gateway = await startTestGateway(settingsOf(references));
    expect((await upload(gateway, {})).status).toBe(200);
    s3.credentials = { id: 'NEWKEY', secret: 'new-secret', token: 'new-token' };
    expect((await upload(gateway, {})).status).toBe(502);
    write({ id: 'NEWKEY', secret: 'new-secret', token: 'new-token' });
    await expect.poll(async () => (await upload(gateway, {})).status, { timeout: 60_000 }).toBe(200);
    rmSync(folder, { recursive: true });
  });
});
