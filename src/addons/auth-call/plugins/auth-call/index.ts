import { createHash, randomUUID } from 'node:crypto';
import {
  bearer,
  defineServedPlugin,
  googleKeys,
  parseSeconds,
  signedHeaders,
  signingKey,
  WRONG_SECRET,
  type Exchange,
} from '../../../../core/kernel/index.ts';
import { GatewayError, NotMine, Secret, type Caller, type HostServices } from '../../../../plugin/index.ts';
import { readAnswer, type CallerAnswer } from '../../answer.ts';
import { JoinedCalls } from '../../joined-calls.ts';

const MAX_KEPT_MS = 5 * 60_000;
const KNOWN = { maxBytes: 32 * 1024 * 1024, ttl: MAX_KEPT_MS, maxEntries: 10_000 };
/** Kept apart: random credentials displace no caller. */
const REFUSED = { name: 'refused', maxBytes: 1024 * 1024, ttl: MAX_KEPT_MS, maxEntries: 1000 };
const MET = { name: 'met', maxBytes: 4 * 1024 * 1024, ttl: 60 * 60_000, maxEntries: 10_000 };
const MAX_ANSWER = 64 * 1024;

/** Asks a service of the operator's who the caller is. */
export default defineServedPlugin({
  name: 'auth-call',
  level: 'entry',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['url', 'secret'],
    properties: {
      url: {
        description: 'Address of the service, which gets a POST.',
        type: 'string',
        pattern: '^https?://',
        examples: ['https://auth.example.com/v1/caller'],
      },
      secret: {
        description:
          'Signs the requests: `whsec_` and the base64 of 24 to 64 bytes (`echo whsec_$(openssl rand -base64 32)`).',
        type: 'string',
        minLength: 1,
        'x-secret': true,
        tsType: 'Secret',
        examples: ['${env:AUTH_CALL_SECRET}'],
      },
      timeout: {
        description: 'The longest time that the service may take. A request whose call takes longer is refused.',
        type: ['number', 'string'],
        pattern: '^[0-9]+(\\.[0-9]+)?(ms|s|m)$',
        exclusiveMinimum: 0,
        default: '2s',
        examples: ['500ms'],
      },
      connections: {
        description: 'Connections to the service.',
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 16,
      },
      allow_insecure: {
        description: 'The service may be reached by plain http, and at an address of the own network.',
        type: 'boolean',
        default: false,
      },
    },
  },
  needs: ['keys'],
  provides: ['caller'],
  explain: ({ exchange: { caller } }) =>
    caller && { does: `caller ${caller.keyId}`, details: { caller: caller.keyId } },
  create({ options, host }) {
    const { url, timeout, connections, allow_insecure: allowInsecure } = options;
    const secret: unknown = options.secret;
    const key = secret instanceof Secret ? signingKey(secret) : undefined;
    if (!key) throw new Error(WRONG_SECRET);
    const [kept, refused] = [host.cache<CallerAnswer>(KNOWN), host.cache<CallerAnswer>(REFUSED)];
    const met = host.cache<true>(MET);
    const calls = new JoinedCalls<CallerAnswer>();

    const call = async (credential: string): Promise<CallerAnswer> => {
      const body = JSON.stringify({ version: 1, credential });
      const id = randomUUID();
      const reply = await host.fetch(url, {
        headers: { 'content-type': 'application/json', ...signedHeaders(id, host.clock.wall(), body, key) },
        body,
        timeout: parseSeconds(timeout),
        maxBytes: MAX_ANSWER,
        connections,
        allowInsecure,
      });
      return readAnswer(reply.status, reply.text());
    };
    const ask = async (credential: string, { cancellation }: Exchange): Promise<CallerAnswer> => {
      const digest = createHash('sha256').update(`${url}\n${credential}`).digest('base64url');
      const known = kept.get(digest) ?? refused.get(digest);
      if (known) return known;
      const isMet = met.get(digest) ?? false;
      const answer = await calls.ask(digest, () => call(credential), { cancellation, isMet });
      if ('no' in answer) met.delete(digest);
      else met.set(digest, true);
      if (answer.ttlMs > 0) ('no' in answer ? refused : kept).set(digest, answer, answer.ttlMs);
      return answer;
    };
    /** A dry run asks no service: the keys of the settings stand for the callers. */
    const supposed = (credential: string, { request }: Exchange): Caller => {
      const caller = host.keys.find(credential, request.remoteAddress);
      if (caller) return caller;
      throw new NotMine('A dry run asks no service: name a key of the settings.');
    };
    return {
      async step({ exchange }) {
        const credential = credentialOf(exchange);
        if (credential === undefined) throw new NotMine('There is no credential.', 'missing_api_key');
        if (host.mode === 'dry') exchange.caller = supposed(credential, exchange);
        else {
          const answer = await ask(credential, exchange).catch((error: unknown) => {
            // The client has left, or the deadline has passed.
            if (exchange.cancellation.reason) throw error;
            host.log.warn({ err: error, request_id: exchange.id }, 'the service that knows the callers failed');
            throw failClosed(error);
          });
          exchange.caller = callerOf(answer, exchange, host.callers);
        }
      },
    };
  },
});

function callerOf(answer: CallerAnswer, { request }: Exchange, callers: HostServices['callers']): Caller {
  if ('key' in answer) return callers.byId(answer.key, request.remoteAddress);
  if ('caller' in answer) return callers.make(answer.caller);
  const message = answer.message ?? 'The credential is not valid.';
  throw answer.no === 'unknown' ? new NotMine(message) : new GatewayError('invalid_api_key', message);
}

/** Errors that have a meaning for the client pass; any other means that the service cannot be asked, and refuses the request. */
function failClosed(error: unknown): GatewayError {
  if (error instanceof GatewayError && error.code !== 'plugin_call_failed') return error;
  return new GatewayError('auth_unavailable', 'The service that knows the callers cannot be asked now.', {
    cause: error,
  });
}

/** The first credential of the headers that SDKs use for keys, in the order of the plugin `auth`. */
function credentialOf({ request }: Exchange): string | undefined {
  const { headers } = request;
  const all = [request.header('api-key'), bearer(headers.authorization), headers['x-api-key']?.toString()];
  return [...all, ...googleKeys(headers)].find((one) => one !== undefined && one !== '');
}
