import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOUR, OWNER, putFile, testFileStore } from '../../src/addons/files/file-store.testkit.ts';
import { newFileId } from '../../src/addons/files/file-ids.ts';
import type { GcsSetup } from '../../src/addons/files/gcs/gcs-api.ts';
import { GcsFileStore } from '../../src/addons/files/gcs/gcs-store.ts';
import type { S3Setup } from '../../src/addons/files/s3/s3-api.ts';
import { S3FileStore } from '../../src/addons/files/s3/s3-store.ts';
import { createUpstream } from '../../src/core/upstream/index.ts';
import type { Upstream } from '../../src/core/upstream/types.ts';
import { Secret } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { startUpstream } from '../support/upstream.ts';
import { startGcs, type ScriptedGcs } from '../support/gcs.ts';
import { s3Error, S3_BUCKET, S3_REGION, startS3, type ScriptedS3 } from '../support/s3.ts';

let gcs: ScriptedGcs;
let s3: ScriptedS3;
let upstream: Upstream;
beforeEach(async () => {
  gcs = await startGcs();
  s3 = await startS3({ id: 'AKIDEXAMPLE', secret: 'secret', token: 'token' });
  upstream = createUpstream({ clock: systemClock });
});
afterEach(async () => {
  await upstream.close();
  await gcs.close();
  await s3.close();
});

const tools = () => ({ bucket: S3_BUCKET, prefix: 'gh/', allowInsecure: true, clock: systemClock, upstream });

const openGcs = (more: Partial<GcsSetup> = {}): GcsFileStore =>
  new GcsFileStore({
    ...tools(),
    baseUrl: gcs.url,
    authorize: () => ({ authorization: 'Bearer x' }),
    forget: () => false,
    ...more,
  });

testFileStore('a bucket of Cloud Storage', () => ({
  store: openGcs(),
  other: openGcs(),
  remains: () => gcs.objects.size,
}));

const openS3 = (more: Partial<S3Setup> = {}): S3FileStore =>
  new S3FileStore({
    ...tools(),
    bucketUrl: `${s3.url}/${S3_BUCKET}`,
    region: S3_REGION,
    credentials: {
      accessKeyId: new Secret('AKIDEXAMPLE'),
      secretAccessKey: new Secret('secret'),
      sessionToken: new Secret('token'),
    },
    ...more,
  });

testFileStore('a bucket of S3', () => ({
  store: openS3(),
  other: openS3(),
  remains: () => s3.objects.size + s3.uploads.size,
}));

it.each([
  ['Cloud Storage', (url: string) => openGcs({ baseUrl: url })],
  ['S3', (url: string) => openS3({ bucketUrl: `${url}/${S3_BUCKET}` })],
])('a bucket of %s that cannot be reached, or answers nonsense, is a failure of the store', async (_, open) => {
  const server = await startUpstream((_request, res) => void res.writeHead(200).end('nonsense'));
  const nonsense = await Promise.allSettled([open(server.url).entries(OWNER), putFile(open(server.url), 'x')]);
  const { url } = server;
  await server.close();
  const unreachable = await Promise.allSettled([open(url).entries(OWNER), putFile(open(url), 'x')]);
  for (const one of [...nonsense, ...unreachable])
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'file_store_failed', status: 502 } });
});

it('a bucket of S3 whose name leads to this machine is refused by the egress guard', async () => {
  const guarded = createUpstream({ clock: systemClock, lookup: () => Promise.resolve(['127.0.0.1']) });
  const bucketUrl = `https://team-files.s3.eu-central-1.amazonaws.com`;
  const store = openS3({ upstream: guarded, allowInsecure: false, bucketUrl });
  await expect(putFile(store, 'x')).rejects.toThrow('S3 failed: egress_refused.');
  await guarded.close();
});

it('a bucket of S3 is swept of what an upload has left that ended a day ago', async () => {
  const store = openS3();
  const [old, young] = [Date.now() - 26 * HOUR, Date.now()].map((at) => newFileId(at));
  for (const id of [old, young]) {
    const upload = await store.begin(OWNER, id!);
    await upload.write(Buffer.alloc(9 * 1024 * 1024));
  }
  const keys = () => [...s3.uploads.values()].map(({ key }) => key);
  expect(keys()).toHaveLength(2);
  expect(await store.sweep(Date.now())).toEqual({ removed: 1, files: 0, bytes: 0 });
  expect(keys()).toEqual([`gh/${OWNER}/${young}.pending`]);
});

it.each([
  ['a copy', 'COPY', 1],
  ['a copy of parts', 'COPY', 9],
  ['the join of parts', 'JOIN', 9],
])('an upload in pieces to S3 that ends with %s that fails is ended by a later request', async (_, does, megabytes) => {
  const store = openS3();
  const now = Date.now();
  const id = newFileId(now);
  await store.beginInPieces(OWNER, id, { filename: 'a.bin', declared: 'a/b' });
  const bytes = randomBytes(megabytes * 1024 * 1024);
  const details = { filename: 'a.bin', mime: 'a/b', purpose: 'user_data', expiresAt: now + HOUR } as const;
  const resume = async () => {
    const upload = await store.resume(OWNER, id, now);
    if (!upload) throw new Error('there is no upload');
    return upload;
  };
  const first = await resume();
  await first.write(bytes);
  s3.script = (one) => (one.does === does ? s3Error(500, 'InternalError') : undefined);
  await expect(first.publish(details, () => {})).rejects.toThrow('InternalError');
  expect(await first.suspend(Buffer.alloc(0))).toBe(bytes.length);
  s3.script = undefined;
  const second = await resume();
  expect(second.received).toBe(bytes.length);
  const file = await second.publish(details, () => {});
  const pieces: Buffer[] = [];
  for await (const piece of store.read(OWNER, file)) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  expect([s3.objects.size, s3.uploads.size]).toEqual([1, 0]);
});
