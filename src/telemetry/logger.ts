import { pino, type DestinationStream, type Logger } from 'pino';
import { systemClock, type Clock } from '../plugin/index.ts';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Default stdout. */
  readonly destination?: DestinationStream;
  readonly clock?: Clock;
}

const SECRET_NAMES = [
  'authorization',
  '["proxy-authorization"]',
  '["x-api-key"]',
  '["x-gateway-api-key"]',
  '["x-goog-api-key"]',
  'cookie',
  '["set-cookie"]',
  'private_key',
  'access_token',
  'refresh_token',
  'assertion',
  'client_secret',
  'api_key',
  'apiKey',
];

/** At the top of a line and one and two objects deep: `headers.authorization`, `err.response.authorization`. */
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => {
  const under = name.startsWith('[') ? name : `.${name}`;
  return [name, `*${under}`, `*.*${under}`];
});

/**
 * Shapes of credentials wherever they stand in a line, an upstream's message that quotes one included: bearer tokens, OpenAI
 * and Anthropic keys, Google API keys, access tokens and refresh tokens, JWTs, PEM keys.
 */
const SECRET_SHAPES =
  /(?<=\bbearer\s+)[\w.~+/=-]{8,}|\bsk-[\w-]{12,}|\bAIza[\w-]{30,}|\bya29\.[\w.-]{8,}|\b1\/\/0[\w-]{20,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?="))/gi;

const CENSOR = '[secret]';

/** JSON lines. Headers are not logged anywhere; redaction is for the day somebody logs an object that holds some. */
export function createLogger({ level, destination, clock = systemClock }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date(clock.wall()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_PATHS, censor: CENSOR },
    hooks: { streamWrite: (line: string) => line.replace(SECRET_SHAPES, CENSOR) },
  };
  return destination ? pino(options, destination) : pino(options);
}
