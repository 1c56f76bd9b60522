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
import { TokenStore } from '../../state/memory/tokens.ts';
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
  /** Of all that are running; keys are asked for before there is anything else to know a request by. */
  readonly supposedCaller: (key: string) => Caller | undefined;
  readonly health: ReadHealth;
}

/** What plugins are granted in explain: everything as it is, but nothing that leaves the process, counts or remembers. */
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

/** For as long as it is written, a body holds the media that the gateway got for it. */
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
 * Everything up to the connection: the request is written and authorised as ever, noted, and then supposed to fail, with a failure
 * that lets the chain go on where there is one. So `route` itself shows who would be next.
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
        run.note(`${attempt.resolved?.slug ?? 'the provider'}: its access token is not fetched by explain`);
        throw supposed;
      }
    },
  };
}

/** Credentials that only an opened catalog entry has: application default credentials, a metadata server. */
const isUnknownCredential = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'credentials_failed' || error.code === 'internal_error');

/** @returns what the attempt fails with */
function supposeFailure(exchange: Exchange, { target }: Attempt, { nextAfter }: SeenAttempt): GatewayError {
  const failures = [
    ...nextAfter.kinds.flatMap((kind) => (kind === 'unsupported' ? [] : EXAMPLE_FAILURES.get(kind)!)),
    ...nextAfter.statusCodes.map(exampleOfStatus),
  ];
  return nearestFailure(failures, exchange, target) ?? EXAMPLE_FAILURES.get('server_error' satisfies FailureKind)!;
}

const CLOSED = (): Promise<never> =>
  Promise.reject(new UpstreamError('connection_failed', 'Explain opens no connection.'));

/** Nothing leaves through it. Media that the gateway would fetch are stood in for by one white pixel. */
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

/** Nothing is counted, and nothing told. */
export const NO_RECORDER: Recorder = { open: () => ({ close() {} }) };

/** In the place of every access token. */
export const FAKE_TOKEN = 'access-token';

/** Gives a token without asking anybody for one. */
export class NoTokens extends TokenStore {
  override get(): string {
    return FAKE_TOKEN;
  }
}
