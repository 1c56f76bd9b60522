import { loadSettings } from '../../core/settings/read/load.ts';
import { memoryFiles } from '../../core/settings/source/files.ts';
import type { CaseOutcome } from './outcome.ts';
import type { FullCase } from './case-requests.ts';
import { runCase, type RunnerSetup } from './runner.ts';

/** Settings as JSON, which is YAML. */
export interface TestedSettings {
  readonly server?: object;
  readonly catalog?: object;
  readonly keys?: object;
  readonly gateway?: Readonly<Record<string, object>>;
  readonly prompts?: Readonly<Record<string, object>>;
}

/** One catalog entry per upstream format, with missing credentials. */
export const ENTRIES = [
  { slug: 'openai', provider: 'openai', api_key: '${env:OPENAI_API_KEY}' },
  { slug: 'claude', provider: 'anthropic', api_key: '${env:ANTHROPIC_API_KEY}' },
  { slug: 'vertex', provider: 'vertex-ai', region: 'us-central1', service_account: '${env:VERTEX_KEY}' },
];

/** One model per entry. */
export const TARGETS = {
  openai: { provider: '@openai', override_params: { model: 'gpt-4o' } },
  claude: { provider: '@claude', override_params: { model: 'claude-sonnet-4-5', max_tokens: 64 } },
  vertex: { provider: '@vertex', override_params: { model: 'gemini-2.5-flash' } },
};

export async function setupOf(
  settings: TestedSettings,
  env: Readonly<Record<string, string>> = {},
): Promise<RunnerSetup> {
  const files = {
    'server.yaml': settings.server ?? {},
    'catalog.yaml': settings.catalog ?? { providers: ENTRIES },
    'keys.yaml': settings.keys ?? { keys: [{ id: 'team', key: '${env:TEAM_KEY}' }] },
    ...Object.fromEntries(Object.entries(settings.gateway ?? {}).map(([id, file]) => [`gateway/${id}.yaml`, file])),
    ...Object.fromEntries(Object.entries(settings.prompts ?? {}).map(([id, file]) => [`prompts/${id}.yaml`, file])),
  };
  const texts = Object.entries(files).map(([name, file]) => [`configs/${name}`, JSON.stringify(file)]);
  const inMemory = memoryFiles(Object.fromEntries(texts) as Record<string, string>);
  const loaded = await loadSettings('configs', { env, files: inMemory, fakeMissing: true });
  return { configs: 'configs', env, loaded };
}

export interface CaseParts extends Partial<Omit<FullCase, 'request'>> {
  readonly path?: string;
  readonly method?: 'GET' | 'POST';
  /** Fields of a chat request, or with `path` of another operation. */
  readonly body?: object | string;
}

export function caseOf({ path, method, body = {}, ...rest }: CaseParts = {}): FullCase {
  const chat = { model: 'any', messages: [{ role: 'user', content: 'Hi' }] };
  const whole = typeof body === 'string' ? body : { ...(path === undefined && chat), ...body };
  const request = {
    ...(path !== undefined && { path }),
    ...(method !== undefined && { method }),
    ...(method !== 'GET' && { body: whole as Record<string, unknown> }),
  };
  return { name: 'a case', configId: 'prod', expect: {}, ...rest, request };
}

/** Runs a case of the gateway config `prod`; returns the outcome of each request. */
export const runAll = async (
  config: object,
  parts: CaseParts,
  others: TestedSettings = {},
): Promise<readonly CaseOutcome[]> =>
  runCase(await setupOf({ ...others, gateway: { prod: config, ...others.gateway } }), caseOf(parts));

/** The outcome of a case with one request. */
export const run = async (config: object, parts: CaseParts = {}, others: TestedSettings = {}): Promise<CaseOutcome> =>
  (await runAll(config, parts, others))[0]!;
