import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, call, upload } from '../support/files.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { openaiReply, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const OTHER = 'gatehouse-other-key-0123456789';
const PNG = new Blob([Buffer.from('89504e470d0a1a0a0000000d', 'hex')]);

let folder: string;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

const start = async (files: object = {}): Promise<void> => {
  gateway = await startTestGateway({
    server: { files: { dir: folder, url: 'https://files.example.com/v1/files', ...files } },
    catalog: {
      providers: [
        { slug: 'sim', provider: 'simulator' },
        {
          slug: 'open',
          provider: 'openai',
          api_key: '${env:NONE:-sk-x}',
          base_url: `${upstream.url}/v1`,
          allow_insecure: true,
        },
      ],
    },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}` },
        {
          id: 'other',
          key: `\${env:NONE:-${OTHER}}`,
          files: { max_file_bytes: 100, max_files: 2, max_total_bytes: 150 },
        },
      ],
    },
  });
};

/** Names of all files in the store. */
const stored = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => name);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  upstream = await startUpstream((_, res) => json(res, openaiReply('hi')));
});
afterEach(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('stored files', () => {
  it('serve the whole life of a file to OpenAI’s client', async () => {
    await start();
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
    const file = new File(['%PDF-1.7 hello'], 'a.pdf');
    const made = await client.files.create({
      file,
      purpose: 'user_data',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    expect(made).toMatchObject({ object: 'file', bytes: 14, filename: 'a.pdf', purpose: 'user_data' });
    expect(made.expires_at! - made.created_at).toBe(3600);
    expect(await client.files.retrieve(made.id)).toMatchObject({ id: made.id });
    expect(await (await client.files.content(made.id)).text()).toBe('%PDF-1.7 hello');
    const second = await client.files.create({ file, purpose: 'assistants' });
    const listed: string[] = [];
    for await (const { id } of client.files.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual([second.id, made.id]);
    expect((await client.files.list({ purpose: 'assistants' })).data.map(({ id }) => id)).toEqual([second.id]);
    expect(await client.files.delete(made.id)).toMatchObject({ deleted: true });
    await expect(client.files.retrieve(made.id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
  });

  it('serve the whole life of a file to Anthropic’s client and its beta', async () => {
    await start();
    const client = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    for (const files of [client.files, client.beta.files]) {
      const made = await files.upload({ file: new File(['hello'], 'a.txt'), expires_in_seconds: 7200 });
      expect(made).toMatchObject({
        type: 'file',
        filename: 'a.txt',
        mime_type: 'text/plain',
        size_bytes: 5,
        downloadable: true,
      });
      expect(await (await files.download(made.id)).text()).toBe('hello');
      const second = await files.upload({ file: new File(['world'], 'b.txt') });
      const listed: string[] = [];
      for await (const { id } of files.list({ limit: 1 })) listed.push(id);
      expect(listed).toEqual([second.id, made.id]);
      expect(await files.delete(made.id)).toEqual({ id: made.id, type: 'file_deleted' });
      await files.delete(second.id);
      await expect(files.retrieveMetadata(made.id)).rejects.toMatchObject({ status: 404 });
    }
  });

  it('of another key do not exist', async () => {
    await start();
    const { body } = await upload(gateway, {});
    for (const [path, method] of [
      [`/${body.id}`, 'GET'],
      [`/${body.id}/content`, 'GET'],
      [`/${body.id}`, 'DELETE'],
    ] as const) {
      const { status, body: answer } = await call(gateway, path, { method, key: OTHER });
      expect([status, answer.error?.code]).toEqual([404, 'file_not_found']);
    }
    expect((await call(gateway, '', { key: OTHER })).body.data).toEqual([]);
    expect((await call(gateway, `/${body.id}`)).status).toBe(200);
  });

  it('are sent as attachments that no browser runs', async () => {
    await start();
    const { body } = await upload(gateway, { file: '<script>', filename: "ü 'x'.html" });
    const { headers } = await call(gateway, `/${body.id}/content`);
    expect([headers.get('content-disposition'), headers.get('x-content-type-options')]).toEqual([
      "attachment; filename*=UTF-8''%C3%BC%20%27x%27.html",
      'nosniff',
    ]);
  });

  it('are limited in size, number and total by their key', async () => {
    await start();
    const other = { key: OTHER, filename: 'a.txt' };
    expect(await upload(gateway, { ...other, file: 'x'.repeat(101) })).toMatchObject({
      status: 413,
      body: { error: { code: 'file_too_large' } },
    });
    expect(await upload(gateway, { ...other, file: 'x'.repeat(100) })).toMatchObject({ status: 200 });
    const over = await upload(gateway, { ...other, file: 'x'.repeat(51) });
    expect(over).toMatchObject({ status: 403, body: { error: { code: 'file_quota_exceeded' } } });
    expect(await upload(gateway, { ...other, file: 'x'.repeat(50) })).toMatchObject({ status: 200 });
    expect(await upload(gateway, { ...other, file: 'x' })).toMatchObject({
      status: 403,
      body: { error: { code: 'file_quota_exceeded' } },
    });
    expect(stored()).toHaveLength(2);
  });

  it.each([
    ['without a name, declared as bytes', 'name="file"\r\ncontent-type: application/octet-stream', 200, 'unnamed'],
    ['without a name and a type', 'name="file"', 400, undefined],
    ['with a name in the extended form', 'name="file"; filename*=UTF-8\'\'%C3%BC.txt', 200, 'ü.txt'],
    ['in another field', 'name="upload"; filename="a.txt"', 400, undefined],
  ])('take a file %s: %s', async (_, disposition, status, filename) => {
    await start();
    const headers = { 'x-gateway-api-key': KEY, 'content-type': 'multipart/form-data; boundary=b' };
    const body = `--b\r\ncontent-disposition: form-data; ${disposition}\r\n\r\nhello\r\n--b--\r\n`;
    const reply = await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers, body });
    expect([reply.status, ((await reply.json()) as { filename?: string }).filename]).toEqual([status, filename]);
  });

  it('never exceed the total of their key together, however many arrive at once', async () => {
    await start({ max_total_bytes: 300 });
    const all = await Promise.all(
      Array.from({ length: 8 }, () => upload(gateway, { file: 'x'.repeat(100), filename: 'a.txt' })),
    );
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(3);
    expect(stored().length).toBeLessThanOrEqual(3);
    expect(stored().filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('leave nothing when their client disconnects in mid-upload', async () => {
    await start();
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /v1/files HTTP/1.1',
      'host: x',
      `x-gateway-api-key: ${KEY}`,
      'content-type: multipart/form-data; boundary=b',
      'content-length: 100000',
      '',
      '--b',
      'content-disposition: form-data; name="file"; filename="a.txt"',
      '',
      'x'.repeat(5000),
    ].join('\r\n');
    socket.write(head);
    await until(() => stored().length === 1, 'the upload has begun');
    expect(stored()[0]).toMatch(/^\.partial\./);
    socket.destroy();
    await until(() => stored().length === 0, 'nothing is left');
  });

  it('are refused when their client stops sending, in a time of their own', async () => {
    await start({ idle_time: '100ms' });
    const body = new ReadableStream({
      start: (controller) =>
        controller.enqueue(
          Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nxx'),
        ),
    });
    const headers = { 'x-gateway-api-key': KEY, 'content-type': 'multipart/form-data; boundary=b' };
    // `duplex` is missing in the types of fetch.
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' };
    const reply = await fetch(`${gateway.url}/v1/files`, init);
    expect([reply.status, await reply.text()]).toEqual([408, expect.stringContaining('files.idle_time') as string]);
    await until(() => stored().length === 0, 'nothing is left');
  });

  it('may take longer than limits.body_time allows other bodies', async () => {
    await start();
    await gateway.close();
    gateway = await startTestGateway({
      server: { files: { dir: folder }, limits: { body_time: '500ms', header_time: '500ms' } },
    });
    let sent = 0;
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        sent += 1;
        if (sent === 1)
          controller.enqueue(
            Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'),
          );
        else if (sent < 6) controller.enqueue(Buffer.from('x'));
        else {
          controller.enqueue(Buffer.from('\r\n--b--\r\n'));
          controller.close();
        }
      },
    });
    const headers = { 'x-gateway-api-key': KEY, 'content-type': 'multipart/form-data; boundary=b' };
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' };
    const reply = await fetch(`${gateway.url}/v1/files`, init);
    expect([reply.status, await reply.json()]).toMatchObject([200, { bytes: 4 }]);
  });

  it('expire, and are removed with the remains of crashed uploads when the gateway starts', async () => {
    await start({ ttl: '1s' });
    const { body } = await upload(gateway, {});
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await call(gateway, `/${body.id}`)).status).toBe(404);
    expect((await call(gateway, '')).body.data).toEqual([]);
    const [owner] = readdirSync(folder);
    const remains = join(folder, owner!, '.partial.elsewhere.1.00000000.x');
    const fresh = join(folder, owner!, '.partial.elsewhere.1.00000000.y');
    for (const path of [remains, fresh]) writeFileSync(path, 'x');
    utimesSync(remains, 0, 0);
    await gateway.close();
    await start();
    await until(() => stored().length === 1, 'the remains are removed');
    expect(statSync(fresh).size).toBe(1);
  });

  it.each<[string, Parameters<typeof upload>[1], number, string]>([
    ['an unknown purpose', { fields: { purpose: 'fine-tune' } }, 400, 'invalid_value'],
    ['an image that is none', { filename: 'a.png', file: 'hello' }, 400, 'invalid_value'],
    [
      'a PDF that is declared as an image',
      { filename: 'a', file: new Blob(['%PDF-1.7'], { type: 'image/png' }) },
      400,
      'invalid_value',
    ],
    ['a text for vision', { filename: 'a.txt', file: 'x', fields: { purpose: 'vision' } }, 400, 'invalid_value'],
    ['a lifetime that is too short', { fields: { 'expires_after[seconds]': '5' } }, 400, 'invalid_value'],
    ['an empty file', { file: '', filename: 'a.txt' }, 400, 'invalid_value'],
    ['a field of 2 KiB', { fields: { purpose: 'x'.repeat(2000) } }, 400, 'invalid_multipart'],
    [
      'twenty fields',
      { fields: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, 'x'])) },
      400,
      'invalid_multipart',
    ],
  ])('refuse %s and keep nothing', async (_, form, status, code) => {
    await start();
    expect(await upload(gateway, form)).toMatchObject({ status, body: { error: { code } } });
    expect(stored()).toEqual([]);
  });

  it('refuse hostile names and ids without leaving their folder', async () => {
    await start();
    const { status, body } = await upload(gateway, { filename: '../../etc/\u0000passwd.pdf' });
    expect([status, body['filename']]).toEqual([200, 'passwd.pdf']);
    for (const id of ['..', '%2e%2e%2f', 'file-gh', `${body.id}x`, '__proto__'])
      expect((await call(gateway, `/${id}`)).status).toBe(404);
  });
});

describe('the metrics of stored files', () => {
  const metric = async (name: string): Promise<string | undefined> => {
    const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    return text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1);
  };

  it('count uploads by their outcome, and the bytes that are in the store', async () => {
    await start();
    const { body } = await upload(gateway, { file: 'x'.repeat(1000), filename: 'a.txt' });
    await upload(gateway, { file: 'x', filename: 'b.txt' });
    await upload(gateway, { file: 'no image', filename: 'a.png' });
    const uploads = (outcome: string) => metric(`gatehouse_file_uploads_total{outcome="${outcome}"}`);
    // A request counts once its reply has been sent.
    await expect.poll(() => uploads('error')).toBe('1');
    expect([await uploads('success'), await uploads('aborted')]).toEqual(['2', '0']);
    expect(Number(await metric('gatehouse_file_upload_bytes_total{outcome="success"}'))).toBeGreaterThan(1001);
    expect([await metric('gatehouse_stored_files'), await metric('gatehouse_stored_file_bytes')]).toEqual([
      '2',
      '1001',
    ]);
    await call(gateway, `/${body.id}`, { method: 'DELETE' });
    expect([await metric('gatehouse_stored_files'), await metric('gatehouse_stored_file_bytes')]).toEqual(['1', '1']);
    await gateway.close();
    await start();
    await expect.poll(() => metric('gatehouse_stored_file_bytes')).toBe('1');
  });

  it('are beside the id, the bytes and the way of each file in the access line of a request', async () => {
    await start();
    const { body } = await upload(gateway, {});
    await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: body.id } });
    await until(() => gateway.logs.some(({ files }) => files !== undefined), 'the request is logged');
    expect(gateway.logs.find(({ files }) => files !== undefined)?.['files']).toEqual([
      { id: body.id, bytes: 9, way: 'inline' },
    ]);
    expect(gateway.logs.find(({ upload: one }) => one !== undefined)?.['upload']).toEqual({ id: body.id, bytes: 9 });
  });
});

describe('a request that names a stored file', () => {
  it('reaches an OpenAI upstream with the bytes, by id and by address', async () => {
    await start();
    const { body: pdf } = await upload(gateway, {});
    const { body: png } = await upload(gateway, { file: PNG, filename: 'a.png' });
    expect((await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: pdf.id } })).status).toBe(200);
    const url = `https://files.example.com/v1/files/${png.id}.png`;
    expect((await ask(gateway, '@open/gpt', { type: 'image_url', image_url: { url, detail: 'low' } })).status).toBe(
      200,
    );
    const parts = upstream.seen.map(({ json: { messages } }) => (messages as { content: object[] }[])[0]?.content[1]);
    expect(parts).toEqual([
      {
        type: 'file',
        file: { filename: 'report.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.7\n')}` },
      },
      {
        type: 'image_url',
        image_url: {
          detail: 'low',
          url: `data:image/png;base64,${Buffer.from(await PNG.arrayBuffer()).toString('base64')}`,
        },
      },
    ]);
  });

  it('passes unchanged where the id is not of this gateway', async () => {
    await start();
    await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: 'file-abc123' } });
    expect(upstream.seen[0]?.text).toContain('"file_id":"file-abc123"');
  });

  it('is a 404 that names the part where the file does not exist, or is another key’s', async () => {
    await start();
    const { body } = await upload(gateway, { key: OTHER });
    const reply = await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: body.id } });
    expect([reply.status, await reply.json()]).toMatchObject([
      404,
      { error: { code: 'file_not_found', param: 'messages[0].content[1]' } },
    ]);
    expect(upstream.seen).toEqual([]);
  });

  it('is a 400 that names Cloud Storage where the file is too large to inline', async () => {
    await start({ inline_bytes: 5 });
    const { body } = await upload(gateway, {});
    const reply = await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: body.id } });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'file_not_inlinable', message: expect.stringContaining('files.gcs') as string } },
    ]);
  });
});

it('a gateway without `files` answers with files_disabled', async () => {
  gateway = await startTestGateway();
  for (const { status, body } of [
    await upload(gateway, {}),
    await call(gateway, ''),
    await call(gateway, '/x', { method: 'DELETE' }),
  ])
    expect([status, body.error?.code]).toEqual([404, 'files_disabled']);
});

describe('a form that is refused before its file has ended', () => {
  /** A form with a field twice, then the beginning of a file, on a connection of its own. */
  async function sendBroken(): Promise<{ readonly reply: string; readonly closed: boolean }> {
    const url = new URL(gateway.url);
    const socket = connect(Number(url.port), url.hostname);
    const field = '--BB\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n';
    const file = '--BB\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + 'x'.repeat(2000);
    const head = [
      'POST /v1/files HTTP/1.1',
      'Host: x',
      `x-gateway-api-key: ${KEY}`,
      'Content-Type: multipart/form-data; boundary=BB',
      'Content-Length: 100000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${field}${field}${file}`);
    let reply = '';
    socket.on('data', (piece) => void (reply += piece.toString()));
    socket.on('error', () => {});
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await until(() => reply.includes('\r\n\r\n'), 'the reply has come');
    socket.end();
    await ended;
    return { reply, closed: socket.destroyed };
  }

  it('gets a 400 on a connection that closes, and frees its place and its file', async () => {
    await start();
    for (let sent = 0; sent < 20; sent += 1) {
      const { reply } = await sendBroken();
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
      expect(reply).toMatch(/\r\nconnection: close\r\n/i);
      expect(reply).toContain('invalid_multipart');
    }
    // The limit of one key is 16 uploads at once.
    expect((await upload(gateway, { fields: { purpose: 'user_data' } })).status).toBe(200);
    expect(stored().filter((name) => name.includes('.partial'))).toEqual([]);
  });
});
