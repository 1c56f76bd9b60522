import type { EntryTest, TestStep } from '../../core/process/console-port.ts';
import type { Catalog, CatalogEntry } from '../../core/catalog/catalog.ts';
import { withinTime } from '../../core/compose/time-limit.ts';
import { systemClock } from '../../core/kernel/system-clock.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { scrub } from '../../core/record/scrub.ts';
import { checkOrigin, systemLookup } from '../../core/upstream/egress.ts';
import { createUpstream } from '../../core/upstream/index.ts';
import type { Upstream } from '../../core/upstream/types.ts';
import { GatewayError, Secret } from '../../plugin/index.ts';
import { MAX_SKEW_MS, catalogOf, createProbe, credentialsOf, originOf, SAMPLES } from './upstreams.ts';
import { withoutSecrets } from '../../core/upstream/upstream-error.ts';
import { proveCredentials, quotable } from './prove.ts';

const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 64 * 1024;

const HINTS: Readonly<Record<string, string>> = {
  egress_blocked: 'The egress guard refuses the address. A server of your own network takes `allow_insecure: true`.',
  dns: 'The name has no address here: check `base_url`, and the resolver of this machine.',
  connect: 'The server was not reached: check `base_url`, firewalls, and `egress.proxy` of server.yaml.',
  token: 'Check the credential. A service account needs its key, and this machine the right time.',
  permission: 'Check the key, and what its account may do.',
  'vertex-ai.permission':
    'Check the key, and what its account may do: grant `roles/aiplatform.user`, which has `aiplatform.endpoints.predict`.',
  call: 'The credentials work; the model or the body was refused. The message has the words of the provider.',
  clock: 'Set the clock of this machine, by NTP.',
};

type Checked = Omit<TestStep, 'name' | 'ms'>;
const fine = (message: string): Checked => ({ ok: true, message });
const left = (message: string): Checked => ({ ok: null, message });
const unsure = (message: string): Checked => ({ ok: null, unsure: true, message });

/** Tests one entry of a catalog step by step, as requests would use it, until a step fails. */
export async function* testEntry(test: EntryTest): AsyncIterable<TestStep> {
  const { outbound, lookup = systemLookup } = test;
  const upstream = createUpstream({ clock: systemClock, lookup });
  upstream.apply(outbound);
  const skews: number[] = [];
  const kind = test.settings.catalog.providers[0]?.provider;
  try {
    const catalog = catalogOf(test, { upstream, timeoutMs: TIMEOUT_MS, skews });
    for (const [name, run] of stepsOf(test, { upstream, catalog, skews })) {
      const from = performance.now();
      const checked = await run().catch((error: unknown) => failed(name, error, kind));
      yield { name, ms: Math.round(performance.now() - from), ...checked };
      if (checked.ok === false) return;
    }
  } finally {
    await upstream.close();
  }
}

function failed(name: string, error: unknown, kind: string | undefined): Checked {
  const code = error instanceof GatewayError ? error.code : name;
  const hint = HINTS[code] ?? HINTS[`${kind}.${name}`] ?? HINTS[name];
  return { ok: false, code, message: scrub(messageOf(error)), ...(hint !== undefined && { hint }) };
}

interface StepTools {
  readonly upstream: Upstream;
  readonly catalog: Catalog;
  readonly skews: readonly number[];
}

function stepsOf(
  test: EntryTest,
  { upstream, catalog, skews }: StepTools,
): readonly (readonly [string, () => Promise<Checked>])[] {
  const { lookup = systemLookup, settings, env, outbound } = test;
  const [, model = ''] =
    /^(?:@[^/]*\/)?(.*)$/.exec(test.model ?? settings.catalog.providers[0]?.models?.[0] ?? '') ?? [];
  const provider = catalog.entries[0]?.provider;
  const origin = provider && [model, ...SAMPLES].flatMap((name) => originOf(provider, name))[0];
  if (!provider || origin === undefined)
    return [['settings', async () => failed('settings', new Error('the entry serves no model'), undefined)]];
  const { allowInsecure } = provider;
  return [
    [
      'address',
      async () => fine(`${checkOrigin({ url: origin, allowInsecure, connections: 1 }).origin} may be called`),
    ],
    [
      'dns',
      async () => {
        const { hostname } = new URL(origin);
        if (/^[\d.]+$|:/.test(hostname)) return left('the address has no name');
        return fine(`${(await lookup(hostname)).length} addresses`);
      },
    ],
    [
      'connect',
      async () => {
        const probe = createProbe({ settings, outbound, env, timeoutMs: TIMEOUT_MS, probes: false, lookup });
        const { isProxied } = await probe({ url: origin, allowInsecure });
        return fine(
          `reached${isProxied ? ' through the proxy' : ''}${origin.startsWith('https:') ? ', with a valid certificate' : ''}`,
        );
      },
    ],
    ...credentialSteps(provider, {
      upstream,
      catalog,
      skews,
      model,
      call: test.call,
      secrets: secretsIn(settings.catalog),
    }),
  ];
}

/** A server quotes what it refuses, and a key of no known shape is like any other word. */
function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

interface CredentialTools extends StepTools {
  readonly model: string;
  readonly call: boolean;
  readonly secrets: readonly string[];
}

function credentialSteps(
  provider: CatalogEntry['provider'],
  { upstream, catalog, skews, model, call, secrets }: CredentialTools,
): readonly (readonly [string, () => Promise<Checked>])[] {
  let credentials: Readonly<Record<string, string>> = {};
  return [
    [
      'token',
      async () => {
        if (provider.usesCallersToken) return left('callers bring their own token');
        credentials = await withinTime(credentialsOf(provider, catalog), TIMEOUT_MS, systemClock);
        return fine(provider.tokenKey === undefined ? 'the entry has a credential' : 'an access token was fetched');
      },
    ],
    [
      'clock',
      async () => {
        const [skew] = skews;
        if (skew === undefined) return left('no token endpoint has answered');
        if (Math.abs(skew) <= MAX_SKEW_MS) return fine(`within ${Math.round(Math.abs(skew) / 1000)} s`);
        throw new Error(`${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead' : 'behind'}`);
      },
    ],
    [
      'permission',
      async () => {
        if (provider.usesCallersToken) return left('it is that of the caller');
        const exchange = upstream.exchange.bind(upstream);
        const { status, message } = await proveCredentials(
          { check: 'permission', provider, credentials, secrets },
          exchange,
          TIMEOUT_MS,
        );
        if (status === 'error') throw new Error(message);
        return status === 'ok' ? fine(message) : unsure(message);
      },
    ],
    ...(call ? [['call', () => smallCall({ provider, model, credentials, secrets, upstream })] as const] : []),
  ];
}

const HI = [{ role: 'user', content: 'Hi' }];
/** A body of few tokens, by the format that the provider speaks. */
const BODIES: Readonly<Record<string, (model: string) => object>> = {
  'openai-chat': (model) => ({ model, messages: HI, max_tokens: 16 }),
  'openai-responses': (model) => ({ model, input: 'Hi', max_output_tokens: 16 }),
  'anthropic-messages': (model) => ({ model, messages: HI, max_tokens: 16 }),
  gemini: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { maxOutputTokens: 16 } }),
};

interface SmallCall {
  readonly provider: CatalogEntry['provider'];
  readonly model: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly upstream: Upstream;
}

async function smallCall({ provider, model, credentials, secrets, upstream }: SmallCall): Promise<Checked> {
  if (model === '') throw new Error('name a model: the entry lists none');
  const place = provider.locate(model, { task: 'generate', stream: false });
  // Claude on Vertex AI has another body.
  const body = place.host === 'direct' || place.format === 'gemini' ? BODIES[place.format] : undefined;
  if (!body) return unsure('save the entry, and send a request in the playground');
  const { status, bytes, text } = await upstream.exchange({
    url: place.origin + place.path,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...place.headers, ...credentials },
    body: JSON.stringify(body(place.model)),
    maxBytes: MAX_REPLY_BYTES,
    allowInsecure: provider.allowInsecure,
    timeoutMs: TIMEOUT_MS * 3,
  });
  if (status >= 200 && status < 300) return fine(`${model} has answered`);
  const words = withoutSecrets(bytes?.toString() ?? text, [...quotable(credentials), ...secrets]);
  throw new Error(`${status}: ${words.slice(0, 300)}`);
}
