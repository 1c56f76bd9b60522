import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { ask, call, upload } from '../support/files.ts';
import { startGcs, type ScriptedGcs } from '../support/gcs.ts';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import { openaiReply, geminiReply, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const MIB = 1024 * 1024;

let gcs: ScriptedGcs;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

beforeEach(async () => {
  gcs = await startGcs();
  upstream = await startUpstream((request, res) =>
    json(res, request.url.includes('generateContent') ? geminiReply('hi') : openaiReply('hi')),
  );
  const account = {
    type: 'service_account',
    project_id: 'test-project',
    private_key: '${env:SA_KEY}',
    client_email: 'a@test-project.iam.gserviceaccount.com',
    token_uri: `${gcs.url}/token`,
  };
  const place = { base_url: upstream.url, allow_insecure: true };
  gateway = await startTestGateway(
    {
      server: {
        limits: { body: '10MiB', in_flight_bytes: '12MiB' },
        egress: { token_uris: [`${gcs.url}/token`] },
        files: {
          gcs: { provider: '@vertex', bucket: 'team-files', prefix: 'gh/', base_url: gcs.url, allow_insecure: true },
          inline_bytes: '1MiB',
        },
      },
      catalog: {
        providers: [
          { slug: 'vertex', provider: 'vertex-ai', region: 'us-central1', service_account: account, ...place },
          { slug: 'open', provider: 'openai', api_key: '${env:NONE:-sk-x}', ...place, base_url: `${upstream.url}/v1` },
        ],
      },
    },
    { env: { SA_KEY: testPrivateKey() } },
  );
});
afterEach(async () => {
  await gateway.close();
  await gcs.close();
  await upstream.close();
});

/** An upload of unknown length, which ends when `finish` is called. */
function openUpload(): { readonly reply: Promise<Response>; readonly finish: () => void } {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
  let finish = (): void => {};
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(`${head}hello`));
      finish = () => {
        controller.enqueue(Buffer.from('\r\n--b--\r\n'));
        controller.close();
      };
    },
  });
  const headers = { 'x-gateway-api-key': KEY, 'content-type': 'multipart/form-data; boundary=b' };
  // `duplex` is missing in the types of fetch.
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' };
  return { reply: fetch(`${gateway.url}/v1/files`, init), finish };
}

describe('files in Cloud Storage', () => {
  it('arrive in pieces and are read, listed and deleted there, with the entry’s own token', async () => {
    const bytes = Buffer.concat([Buffer.from('%PDF-1.7'), randomBytes(20 * MIB)]);
    const { status, body } = await upload(gateway, { file: new Blob([bytes]) });
    expect([status, body]).toMatchObject([200, { bytes: bytes.length, filename: 'report.pdf' }]);
    expect(gcs.calls.filter((one) => one.startsWith('PUT'))).toEqual([
      `PUT /session bytes 0-${8 * MIB - 1}/*`,
      `PUT /session bytes ${8 * MIB}-${16 * MIB - 1}/*`,
      `PUT /session bytes ${16 * MIB}-${bytes.length - 1}/${bytes.length}`,
    ]);
    expect([...gcs.tokens]).toEqual(['Bearer gcs-token']);
    const [[name, object] = []] = gcs.objects;
    expect(name).toMatch(new RegExp(`^gh/test\\.[0-9a-f]{16}/${body.id}\\.pdf$`));
    expect(object).toMatchObject({
      contentType: 'application/pdf',
      metadata: { filename: 'report.pdf', purpose: 'user_data' },
    });
    expect(object!.bytes.equals(bytes)).toBe(true);
    const content = await fetch(`${gateway.url}/v1/files/${body.id}/content`, {
      headers: { 'x-gateway-api-key': KEY },
    });
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await call(gateway, '')).body.data).toHaveLength(1);
    expect((await call(gateway, `/${body.id}`, { method: 'DELETE' })).status).toBe(200);
    expect(gcs.objects.size).toBe(0);
  });

  it.each([
    ['lost a piece', 2, 0],
    ['kept a part of a piece', 2, 3 * MIB],
    ['kept a whole piece', 2, 8 * MIB],
    ['kept the last piece', 3, 8 * MIB],
  ])('are whole although the store %s and failed', async (_, broken, kept) => {
    gcs.breaking = (piece) => (piece === broken ? kept : undefined);
    const bytes = Buffer.concat([Buffer.from('%PDF-1.7'), randomBytes(20 * MIB)]);
    const { status } = await upload(gateway, { file: new Blob([bytes]) });
    expect(status).toBe(200);
    expect([...gcs.objects.values()][0]!.bytes.equals(bytes)).toBe(true);
  });

  it('leave neither object nor session when they are refused', async () => {
    const { status } = await upload(gateway, { filename: 'a.png', file: 'no image' });
    expect([status, gcs.objects.size, gcs.sessions.size]).toEqual([400, 0, 0]);
  });

  it('count the piece that is in memory among the bytes in flight while they arrive', async () => {
    const first = openUpload();
    await until(() => gcs.sessions.size === 1, 'the first upload has begun');
    // An upload of unknown length may fill its whole piece of 8 MiB, and all requests together may hold 12 MiB.
    const second = openUpload();
    second.finish();
    expect([(await second.reply).status, await (await second.reply).text()]).toEqual([
      503,
      expect.stringContaining('limits.in_flight_bytes') as string,
    ]);
    expect((await upload(gateway, {})).status).toBe(200);
    first.finish();
    expect((await first.reply).status).toBe(200);
    const third = openUpload();
    third.finish();
    expect((await third.reply).status).toBe(200);
  });

  it('are a 502 that names the store when it keeps failing', async () => {
    gcs.breaking = () => 0;
    const { status, body } = await upload(gateway, {});
    expect([status, body.error?.code]).toEqual([502, 'file_store_failed']);
    expect(gcs.sessions.size).toBe(0);
  });

  it('reach Gemini on Vertex AI by their address, whatever their size, and other targets inline', async () => {
    const big = Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(2 * MIB)]);
    const { body } = await upload(gateway, { file: new Blob([big]) });
    const part = { type: 'file', file: { file_id: body.id } };
    expect((await ask(gateway, '@vertex/gemini-2.5-flash', part)).status).toBe(200);
    const [name] = gcs.objects.keys();
    expect(upstream.seen[0]?.json['contents']).toMatchObject([
      { parts: [{ text: 'x' }, { fileData: { mimeType: 'application/pdf', fileUri: `gs://team-files/${name}` } }] },
    ]);
    const refused = await ask(gateway, '@open/gpt', part);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'file_not_inlinable' } }]);
    const { body: small } = await upload(gateway, {});
    expect((await ask(gateway, '@open/gpt', { type: 'file', file: { file_id: small.id } })).status).toBe(200);
    expect(upstream.seen[1]?.text).toContain(`data:application/pdf;base64,${btoa('%PDF-1.7\n')}`);
  });
});
