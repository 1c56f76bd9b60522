import { canary } from './canaries.ts';
import { AD_HOC_MODEL, configId, configOf, CUSTOM_HOST, GATEWAY_KEY, OTHER_KEY, SECRETS, slugOf } from './files.ts';
import { FORWARDABLE, type ConfigPlan, type Plan, type RequestPlan } from './generated.ts';
import { prefixesOf } from './allowed.ts';
import type { ClientRequest } from './serve.ts';

/** Headers of every request that no generated config forwards. Of them only `anthropic-version` may reach an upstream. */
const OTHERS = [
  'cookie',
  'x-api-key',
  'proxy-authorization',
  'x-entrance',
  'x_entrance',
  'api-key',
  'x-goog-api-key',
  'x-auth-token',
  'x-anything',
  'openai-organization',
  'x-goog-user-project',
  'anthropic-version',
  'anthropic-dangerous-direct-browser-access',
  'x-forwarded-for',
  'referer',
  'x-request-id',
  'traceparent',
  'te',
  'via',
] as const;
const OWN = ['anthropic-beta', 'familya-beta', 'trace-id', 'user'] as const;

export const token = canary('caller', 'token');

export const configAsked = (plan: Plan, { config }: RequestPlan): ConfigPlan | undefined =>
  config && ('inline' in config ? config.inline : plan.configs[config.stored]);

/** The request, with a canary in every header. */
export function requestOf(plan: Plan, asked: RequestPlan): ClientRequest {
  const prefix = prefixesOf(plan.prefixes)[asked.prefix]!;
  const own = prefixesOf(plan.prefixes).flatMap((each) => OWN.map((name) => each + name));
  const marked = [...FORWARDABLE, ...OTHERS, ...own];
  const model = modelOf(plan, asked);
  const path = asked.path.replace('{model}', model);
  return {
    path: asked.key === 'query' ? `${path}?key=${GATEWAY_KEY}` : path,
    headers: {
      ...Object.fromEntries(marked.map((name) => [name, canary('header', name)])),
      [`${prefix}metadata`]: JSON.stringify({ team: canary('header', `${prefix}metadata`) }),
      ...wayTo(plan, asked, prefix),
      ...authorizationOf(asked),
      ...keyIn(asked, prefix),
      ...(asked.connection.length > 0 && { connection: asked.connection.join(', ') }),
    },
    body: path === asked.path ? bodyFor(path, model) : { contents: [{ parts: [{ text: 'Hi' }] }] },
  };
}

const bodyFor = (path: string, model: string): object => ({
  model,
  ...(!path.endsWith('tokens') && { max_tokens: 5 }),
  messages: [{ role: 'user', content: 'Hi' }],
});

/** A plain request with a config of its own. */
export function inlineRequest({ prefixes, entries }: Plan, config: object): ClientRequest {
  const [prefix = ''] = prefixesOf(prefixes);
  return {
    path: '/v1/chat/completions',
    headers: { [`${prefix}api-key`]: GATEWAY_KEY, [`${prefix}config`]: JSON.stringify(config) },
    body: { model: SECRETS[entries[0]!].model, messages: [{ role: 'user', content: 'Hi' }] },
  };
}

function wayTo(plan: Plan, asked: RequestPlan, prefix: string): Readonly<Record<string, string>> {
  const { config, to } = asked;
  const way: Record<string, string> = {};
  if (config && 'inline' in config) way[`${prefix}config`] = JSON.stringify(configOf(config.inline, plan.entries));
  else if (config) way[`${prefix}config`] = configId(config.stored);
  if (configAsked(plan, asked)?.targets.length) return way;
  if (to === 'custom host') way[`${prefix}custom-host`] = `https://${CUSTOM_HOST}/v1`;
  if (to === 'vertex-ai')
    Object.assign(way, {
      [`${prefix}provider`]: 'vertex-ai',
      [`${prefix}vertex-project-id`]: 'a-project',
      [`${prefix}vertex-region`]: 'us-central1',
    });
  return way;
}

function modelOf(plan: Plan, asked: RequestPlan): string {
  if (configAsked(plan, asked)?.targets.length) return 'of-the-config';
  const { to } = asked;
  if (to === 'custom host') return 'some-model';
  return to === 'vertex-ai' ? AD_HOC_MODEL : `@${slugOf(to)}/${SECRETS[plan.entries[to]!].model}`;
}

function authorizationOf({ key, authorization }: RequestPlan): Readonly<Record<string, string>> {
  if (key === 'authorization') return {};
  switch (authorization) {
    case 'token':
      return { authorization: `Bearer ${token}` };
    case 'the same key':
      return { authorization: `Bearer ${GATEWAY_KEY}` };
    case 'another key':
      return { authorization: `Bearer ${OTHER_KEY}` };
    case 'a key in Basic':
      return { authorization: `Basic ${Buffer.from(`user:${OTHER_KEY}`).toString('base64')}` };
    case 'nothing':
      return {};
  }
}

function keyIn({ key }: RequestPlan, prefix: string): Readonly<Record<string, string>> {
  if (key === 'authorization') return { authorization: `Bearer ${GATEWAY_KEY}` };
  if (key === 'query') return {};
  return { [key === 'own header' ? `${prefix}api-key` : key]: GATEWAY_KEY };
}
