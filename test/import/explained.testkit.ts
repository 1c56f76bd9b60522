import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { explainCommand } from '../../src/addons/explain/cli/explain.ts';

/** The values of variables that hold no secret. */
export const ENV = {
  AZURE_API_BASE: 'https://variable.example',
  VLLM_BASE: 'https://variable.example/v1',
  INTERNAL_LLM_BASE: 'https://variable.example/v1',
  AZURE_API_VERSION: '2024-10-21',
  OPENAI_ORG_ID: 'org-1',
  DEFAULT_TEMPERATURE: '0.5',
  STOP_SEQUENCE: 'END',
};

const PATHS: readonly (readonly [RegExp, string, object])[] = [
  [/-embed$/, '/v1/embeddings', { input: 'hi' }],
  [/-image$/, '/v1/images/generations', { prompt: 'hi' }],
  [/^/, '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
];

interface Explained {
  readonly request: { readonly alias?: { readonly of: string; readonly at: { readonly file: string } } };
  readonly targets: readonly {
    readonly outbound?: { readonly url: string; readonly body: { readonly model?: string } };
  }[];
}

/** What becomes of a request of a key. Default: the first one of the folder. */
export async function explained(dir: string, wanted: string, caller?: string): Promise<Explained> {
  const config = /^config (.+)/.exec(wanted)?.[1];
  const { keys } = parse(readFileSync(join(dir, 'keys.yaml'), 'utf8')) as { readonly keys: readonly { id: string }[] };
  const [, path, body] = PATHS.find(([pattern]) => pattern.test(wanted))!;
  const request = JSON.stringify({ model: config === undefined ? wanted : 'any', ...body });
  let [said, errors] = ['', ''];
  await explainCommand({
    configs: dir,
    env: ENV,
    request: '-',
    key: caller ?? keys[0]!.id,
    path,
    headers: config === undefined ? [] : [`x-gateway-config: ${config}`],
    draws: [0],
    json: true,
    colour: false,
    terminal: undefined,
    out: (text) => void (said += text),
    err: (text) => void (errors += text),
    input: () => Promise.resolve(Buffer.from(request)),
  });
  if (said === '') throw new Error(errors);
  return JSON.parse(said) as Explained;
}

/** Host and model of each request that may be sent. */
export async function placesOf(dir: string, wanted: string, caller?: string): Promise<readonly string[]> {
  const { targets } = await explained(dir, wanted, caller);
  return targets.flatMap(({ outbound }) => {
    if (!outbound) return [];
    const { host, pathname } = new URL(outbound.url);
    const model = /\/(?:models|deployments)\/([^/:]+)/.exec(pathname)?.[1] ?? outbound.body.model;
    return `${host} ${model}`;
  });
}
