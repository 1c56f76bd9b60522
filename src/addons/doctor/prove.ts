import type { ProofCall, ProviderEntry } from '../../core/providers/provider.ts';
import { isObject, parseJson } from '../../core/kernel/index.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { scrub } from '../../core/record/scrub.ts';
import type { Upstream } from '../../core/upstream/types.ts';
import { error, ok, warning, type Finding } from '../../core/process/finding.ts';
import { withoutSecrets } from '../../core/upstream/upstream-error.ts';

/** Lists of models of large vendors have half a megabyte. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_WORDS = 300;

interface ProbeReply {
  readonly status: number;
  readonly text: string;
}

interface Proof {
  readonly check: string;
  readonly provider: ProviderEntry;
  readonly credentials: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
}

/** The texts of credentials that a server may quote, with their scheme and without. */
export const quotable = (credentials: Proof['credentials']): readonly string[] =>
  Object.values(credentials).flatMap((value) => [value, value.replace(/^\S+ /, '')]);

/** Sends the cheapest call that fails without valid credentials, for `--probe`. Nothing is billed for it. */
export async function proveCredentials(
  { check, provider, credentials, secrets = [] }: Proof,
  exchange: Upstream['exchange'],
  timeoutMs: number,
): Promise<Finding> {
  const call = provider.proof;
  if (!call) return warning(check, 'the provider has no call without a cost that proves them');
  const send = async (headers: ProofCall['headers']): Promise<ProbeReply> => {
    const { status, bytes, text } = await exchange({
      url: call.origin + call.path,
      method: call.body === undefined ? 'GET' : 'POST',
      headers: { ...call.headers, ...(call.body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(call.body !== undefined && { body: call.body }),
      maxBytes: MAX_BYTES,
      allowInsecure: provider.allowInsecure,
      timeoutMs,
    });
    return { status, text: bytes?.toString() ?? text };
  };
  try {
    const reply = await send(credentials);
    const quoted = [...quotable(credentials), ...secrets];
    if (!isDone(reply)) return refusal(check, { ...reply, text: withoutSecrets(reply.text, quoted) }, call);
    if (Object.keys(credentials).length === 0) return ok(check, 'none are needed: the server answered without');
    if (call.mayBePublic && isDone(await send({})))
      return warning(
        check,
        `the server answers ${call.path} without credentials too: only a request shows whether they are valid`,
      );
    return ok(check, `accepted by ${nameOf(call)}`);
  } catch (failure) {
    return error(check, `${nameOf(call)}: ${messageOf(failure)}`);
  }
}

const isDone = ({ status }: ProbeReply): boolean => status >= 200 && status < 300;

const nameOf = ({ body, path }: ProofCall): string => `${body === undefined ? 'GET' : 'POST'} ${path}`;

/** Statuses that do not tell about the credentials. */
const UNKNOWN: Readonly<Record<number, string>> = {
  404: 'the server has no such path or model',
  405: 'the server has no such call',
  429: 'the limit of the account is used up',
};

function refusal(check: string, { status, text }: ProbeReply, call: ProofCall): Finding {
  const words = wordsIn(text);
  const told = `${nameOf(call)} answered ${status}${words === '' ? '' : `: ${words}`}`;
  const unknown =
    UNKNOWN[status] ?? (status >= 500 ? 'the server fails' : status < 400 ? 'the server redirects' : undefined);
  return unknown === undefined
    ? error(check, `refused: ${told}`)
    : warning(check, `neither accepted nor refused, ${unknown}: ${told}`);
}

/** The vendor's message, without credentials; vendors quote parts of keys. */
function wordsIn(text: string): string {
  const found = messageIn(parseJson(text));
  return scrub((found ?? '').replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').slice(0, MAX_WORDS)).replaceAll(
    QUOTED_KEY,
    '[key]',
  );
}

/** `sk-abc***xyz`: the ends of a key. */
const QUOTED_KEY = /\S*\*{3,}\S*/g;

/** `{error: {message}}`, `{error}`, `{message}`, or a list of the first. */
function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  return isObject(value) ? messageIn(value['error'] ?? value['message'] ?? value['detail']) : undefined;
}
