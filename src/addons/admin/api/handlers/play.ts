import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { includesRole } from '../roles.ts';
import { invalidBody } from '../schemas.ts';
import { continuesEarlier } from './earlier-texts.ts';
import { auditRead } from './requests.ts';
import { answerWith } from './object-answers.ts';
import { consoleOf } from './session.ts';

interface TestBody {
  readonly slug?: string;
  readonly entry?: Readonly<Record<string, unknown>>;
  readonly model?: string;
  readonly call?: boolean;
}

export const testProvider: Handler = (call) => {
  const { slug, entry, model, call: sends = false } = call.body as TestBody;
  if ((slug === undefined) === (entry === undefined))
    throw invalidBody([{ pointer: '', message: 'give either `slug` or `entry`' }]);
  // With a store, what is tested could be saved: that is a right of admins.
  if (entry && call.objects.isStateful && !includesRole(call.identity.role, 'admin'))
    throw new ApiProblem('forbidden', 'A test of an entry that is not saved needs the role admin.');
  if (slug !== undefined && !call.settings.catalog.providers.some((one) => one.slug === slug))
    throw new ApiProblem('not_found', 'There is no entry of the catalog with this slug.');
  const pieces = consoleOf(call).test(call.sources.ask, { slug, entry, model, call: sends }, call.onLeave);
  if (!pieces) throw new ApiProblem('too_many_tests', 'There were 5 tests within a minute.');
  return { stream: { type: 'text/event-stream; charset=utf-8', pieces } };
};

interface PlayBody {
  readonly as: string;
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Throws `key_inactive`, and `not_found` where there is none. */
export async function checkActive(key: string, call: Call): Promise<void> {
  const { body } = await answerWith(call.objects.get('keys', key), call);
  const { state } = body as { readonly state: string };
  if (state !== 'active') throw new ApiProblem('key_inactive', `The key "${key}" is ${state}.`);
}

/** Headers that say who calls, or are about the connection. */
const NOT_SENT =
  /^(?:authorization|.*api-key|cookie|host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|x-request-id)$/;

/** Kept responses and files of a key are texts of its requests. */
const readsTexts = (method: string, path: string, body: unknown): boolean =>
  (method === 'GET' && (!/^\/v1\/models(?:[/?]|$)/.test(path) || /\.\.|%2e/i.test(path))) || continuesEarlier(body);

export const sendAsKey: Handler = async (call) => {
  const { as, method = 'POST', path = '/v1/chat/completions', headers = {}, body } = call.body as PlayBody;
  const isRead = readsTexts(method, path, body);
  if (isRead && !call.identity.content)
    throw new ApiProblem(
      'forbidden',
      'Texts of earlier requests of a key take the right `content`: of `admin.content`, or of a token.',
    );
  await checkActive(as, call);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const wrong = names.find((name) => NOT_SENT.test(name) || !/^[\w-]{1,100}$/.test(name));
  if (wrong !== undefined)
    throw invalidBody([{ pointer: '/headers', message: `the gateway sets \`${wrong}\` itself` }]);
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.replaceAll(/[^\t\x20-\xff]/g, '')]),
  );
  const question = {
    as,
    method,
    path,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...sent },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  if (isRead) await auditRead({ ...call, id: path });
  const played = await consoleOf(call).play(call.sources.ask, question, call.onLeave);
  if (!played) throw new ApiProblem('busy', 'Too many requests of the playground are under way.');
  const { status, headers: own, pieces } = played;
  const type = own['content-type'] ?? 'application/octet-stream';
  return { stream: { type, pieces }, headers: { ...forReader(own), 'x-gatehouse-status': String(status) } };
};

/** Headers of the gateway, without those that would change how a browser treats the answer. */
const forReader = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(?:x-gateway-|x-ratelimit-|retry-after$)/.test(name)),
  );
