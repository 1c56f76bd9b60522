import { rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { doctorCommand } from '../../src/addons/doctor/doctor.ts';
import type { Finding } from '../../src/core/process/finding.ts';
import { writeSettings } from '../support/gateway.ts';
import { json, startUpstream, type Script, type ScriptedUpstream } from '../support/upstream.ts';

const KEY = 'canary-key-0123456789abcdef';

/** An entry of each provider that takes a key, the header with which it goes, and the call that proves it. */
const ENTRIES: readonly (readonly [string, object, string, string])[] = [
  ['OpenAI', { provider: 'openai' }, 'authorization', 'GET /v1/models'],
  ['Azure', { provider: 'azure-openai' }, 'api-key', 'GET /openai/v1/models'],
  [
    'Azure with a version',
    { provider: 'azure-openai', api_version: '2024-10-21' },
    'api-key',
    'GET /openai/models?api-version=2024-10-21',
  ],
  ['Anthropic', { provider: 'anthropic' }, 'x-api-key', 'GET /v1/models?limit=1'],
  ['Gemini', { provider: 'google-ai-studio' }, 'x-goog-api-key', 'GET /v1beta/models?pageSize=1'],
  [
    'Vertex AI in express mode',
    { provider: 'vertex-ai' },
    'x-goog-api-key',
    'POST /v1/publishers/google/models/gemini-3.5-flash:countTokens',
  ],
];

const baseOf = (entry: object, url: string): string =>
  'provider' in entry && entry.provider === 'openai' ? `${url}/v1` : url;

async function probe(script: Script, entry: object, key: string | null = KEY) {
  const upstream = await startUpstream(script);
  onTestFinished(() => upstream.close());
  const own = { slug: 'own', allow_insecure: true, base_url: baseOf(entry, upstream.url), ...entry };
  const dir = writeSettings({
    catalog: { providers: [{ ...own, ...(key !== null && { api_key: '${env:OWN_KEY}' }) }] },
    gateway: { default: { provider: '@own' } },
  });
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  let text = '';
  const out = (piece: string): void => void (text += piece);
  const env = key === null ? {} : { OWN_KEY: key };
  const code = await doctorCommand({
    dir,
    env,
    json: true,
    offline: false,
    probes: true,
    timeoutMs: 5000,
    read: () => undefined,
    out,
    err: out,
  });
  expect(text).not.toContain('canary');
  const { findings } = JSON.parse(text) as { findings: readonly Finding[] };
  const found = findings.find(({ check }) => check === 'credentials @own')!;
  return { code, found: `${found.status}: ${found.message}`, calls: callsOf(upstream) };
}

const callsOf = ({ seen }: ScriptedUpstream): readonly string[] => seen.map(({ method, url }) => `${method} ${url}`);

/** Takes the key, and refuses other requests as vendors do. */
const locked =
  (header: string): Script =>
  ({ headers }, res) =>
    String(headers[header] ?? '').endsWith(KEY)
      ? json(res, { data: [] })
      : json(res, { error: { message: `Incorrect API key: ${String(headers[header])} (canary***cdef)` } }, 401);

describe('gatehouse doctor --probe', () => {
  it.each(ENTRIES)('proves a key of %s with one call that is not billed', async (_, entry, header, call) => {
    const { code, found, calls } = await probe(locked(header), entry);
    expect([found, code]).toEqual([`ok: accepted by ${call}`, 0]);
    // A list of another vendor may be public: a call without the key shows that it is not.
    expect(new Set(calls)).toEqual(new Set([call]));
  });

  it.each(ENTRIES)('fails for a wrong key of %s, without the key in the words', async (_, entry, header, call) => {
    const { code, found, calls } = await probe(locked(header), entry, 'canary-wrong-0123456789abcdef');
    expect(found).toMatch(/^error: refused: /);
    expect(found).toContain(`${call} answered 401: Incorrect API key`);
    expect([code, calls]).toEqual([1, [call]]);
  });

  it('fails for the 400 with which Google refuses a key', async () => {
    const words = { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } };
    const { found } = await probe((_, res) => json(res, words, 400), { provider: 'google-ai-studio' });
    expect(found).toBe('error: refused: GET /v1beta/models?pageSize=1 answered 400: API key not valid.');
  });

  it.each([
    [404, 'the server has no such path or model'],
    [429, 'the limit of the account is used up'],
    [503, 'the server fails'],
    [302, 'the server redirects'],
  ])('neither accepts nor refuses where the server answers %i', async (status, why) => {
    const { code, found } = await probe((_, res) => json(res, {}, status), { provider: 'openai' });
    expect([code, found]).toEqual([
      0,
      `warning: neither accepted nor refused, ${why}: GET /v1/models answered ${status}`,
    ]);
  });

  it('warns where the list of models is public, and finds that no key is needed', async () => {
    const open: Script = (_, res) => json(res, { data: [] });
    expect((await probe(open, { provider: 'openai' })).found).toMatch(
      /^warning: the server answers \/v1\/models without credentials too/,
    );
    const { found, calls } = await probe(open, { provider: 'openai' }, null);
    expect([found, calls]).toEqual(['ok: none are needed: the server answered without', ['GET /v1/models']]);
  });

  it('fails where the server hangs up', async () => {
    const { code, found } = await probe((_, res) => void res.destroy(), { provider: 'openai' });
    expect([code, found]).toEqual([1, expect.stringMatching(/^error: GET \/v1\/models: /)]);
  });

  it('is refused beside --offline', async () => {
    const world = { env: {}, terminal: undefined, input: async () => Buffer.from(''), out() {}, err() {} };
    await expect(commands.get('doctor')!.run(['--probe', '--offline'], world)).rejects.toThrow('give one of them');
  });
});
