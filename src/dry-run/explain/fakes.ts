import {
  GatewayError,
  UpstreamError,
  type Attempt,
  type Caller,
  type Capabilities,
  type Clock,
  type Exchange,
  type FailureKind,
  type KeyRing,
  type Recorder,
  type Sender,
  type Translator,
} from '../../plugin/index.ts';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import type { TokenStore } from '../../state/ports.ts';
import type { Upstream } from '../../upstream/types.ts';
import { createSender } from '../../send/send.ts';
import { EXAMPLE_FAILURES, exampleOfStatus, nearestFailure } from './example-failures.ts';
import { keepNothing } from './fake-cache.ts';
import { readOnlyHealth, type ReadHealth } from './frozen-health.ts';
import type { SeenAttempt } from './observation.ts';
import type { RunNotes } from './run-notes.ts';

export interface FakesSetup {
  readonly clock: Clock;
  readonly server: ServerSettings;
  readonly runOf: (exchange: Exchange) => RunNotes;
  /** Callers of all running questions, by key: the key is looked up before the request is otherwise known. */
  readonly supposedCaller: (key: string) => Caller | undefined;
  readonly health: ReadHealth;
}

/**
 * The capabilities that plugins get in explain: the real ones, except those that leave the process, count or store.
 */
export function fakeMissing(setup: FakesSetup): (granted: Partial<Capabilities>) => Partial<Capabilities> {
  return (granted) => ({
    ...granted,
    health: readOnlyHealth(setup.health),
    ...(granted.keys && { keys: keysOf(granted.keys, setup) }),
    ...(granted.translate && { translate: noteWritten(granted.translate, setup) }),
    ...(granted.send && { send: sendNothing(setup) }),
    ...(granted.cache && { cache: keepNothing(granted.cache, setup) }),
  });
}

const keysOf = (keys: KeyRing, { supposedCaller }: FakesSetup): KeyRing => ({
  find: (key, address) => supposedCaller(key) ?? keys.find(key, address),
});

/** Captures the encoded body, which contains inlined media only during encoding. */
const noteWritten = (translator: Translator, { runOf }: FakesSetup): Translator => ({
  check: (exchange, attempt, resolved) => translator.check(exchange, attempt, resolved),
  prepare(exchange, attempt, resolved) {
    runOf(exchange).seen(attempt).written = attempt.body;
    return translator.prepare(exchange, attempt, resolved);
  },
  *prepareInSteps(exchange, attempt, resolved) {
    runOf(exchange).seen(attempt).written = attempt.body;
    return yield* translator.prepareInSteps(exchange, attempt, resolved);
  },
});

/**
 * A sender without a connection: the request is encoded, authorized and captured, and then assumed to fail, if possible
 * with a failure that falls through. So `route` itself shows the next target.
 */
function sendNothing({ clock, server, runOf }: FakesSetup): Sender {
  return {
    async send(exchange, attempt) {
      const run = runOf(exchange);
      const seen = run.seen(attempt);
      const supposed = run.failureOf(attempt) ?? supposeFailure(exchange, attempt, seen);
      seen.supposed = supposed;
      const upstream: Upstream = {
        ...NO_UPSTREAM,
        send(request) {
          seen.sent ??= request;
          return Promise.reject(supposed);
        },
      };
      const sender = createSender({ upstream, clock, limits: server.limits, hold: () => true });
      try {
        return await sender.send(exchange, attempt);
      } catch (error) {
        if (error === supposed) throw error;
        if (!isUnknownCredential(error)) {
          seen.supposed = undefined;
          throw error;
        }
        run.note(`${attempt.resolved?.slug ?? 'the provider'}: explain does not fetch its access token`);
        throw supposed;
      }
    },
  };
}

/** Credentials that only a catalog entry in use has: application default credentials, a metadata server. */
const isUnknownCredential = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'credentials_failed' || error.code === 'internal_error');

/** @returns the assumed failure of the attempt */
function supposeFailure(exchange: Exchange, { target }: Attempt, { nextAfter }: SeenAttempt): GatewayError {
  const failures = [
    ...nextAfter.kinds.flatMap((kind) => (kind === 'unsupported' ? [] : EXAMPLE_FAILURES.get(kind)!)),
    ...nextAfter.statusCodes.map(exampleOfStatus),
  ];
  return nearestFailure(failures, exchange, target) ?? EXAMPLE_FAILURES.get('server_error' satisfies FailureKind)!;
}

const CLOSED = (): Promise<never> =>
  Promise.reject(new UpstreamError('connection_failed', 'Explain opens no connection.'));

/** An upstream that sends nothing. Media that the gateway would fetch are replaced by one white pixel. */
export const NO_UPSTREAM: Upstream = {
  send: CLOSED,
  exchange: CLOSED,
  download: () => Promise.resolve({ status: 200, headers: { 'content-type': 'image/png' }, body: PIXEL }),
  stats: () => [],
  settingsChanged() {},
  close: () => Promise.resolve(),
};

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** A recorder that records nothing. */
export const NO_RECORDER: Recorder = { open: () => ({ close() {} }) };

/** Replaces every access token. */
export const FAKE_TOKEN = 'access-token';

/** Returns a fake token without fetching one. */
export const NO_TOKENS: TokenStore = { get: () => FAKE_TOKEN, refuse: () => false, retain() {} };
