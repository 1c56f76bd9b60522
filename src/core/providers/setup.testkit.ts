import { generateKeyPairSync } from 'node:crypto';
import type { Problem } from '../kernel/report.ts';
import { ManualClock } from '../memory/tokens.testkit.ts';
import { MemoryTokenStore } from '../memory/tokens.ts';
import type { SmallReply, SmallRequest } from '../upstream/types.ts';
import type { ProviderSetup } from './definition.ts';

/** A setup whose token calls return `reply`, with the sent requests and the reported problems. */
export function testSetup(
  reply: (request: SmallRequest) => SmallReply | Promise<SmallReply>,
  tokenUris: string[] = [],
  env: ProviderSetup['env'] = {},
) {
  const clock = new ManualClock();
  const problems: Problem[] = [];
  const sent: SmallRequest[] = [];
  const setup: ProviderSetup = {
    clock,
    tokens: new MemoryTokenStore(clock),
    env,
    tokenUris: new Set(tokenUris),
    tokenFetched: () => {},
    report: (problem) => problems.push(problem),
    upstreamExchange: async (request) => {
      sent.push(request);
      return reply(request);
    },
  };
  return { setup, clock, problems, sent };
}

export const noTokenCalls = (): never => {
  throw new Error('no token call is expected here');
};

export function tokenReply(json: object, status = 200): SmallReply {
  return { status, headers: {}, text: JSON.stringify(json) };
}

let pem: string | undefined;

/** An RSA key of this test run, as PKCS#8 PEM. */
export function testPrivateKey(): string {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  return pem;
}

export function serviceAccountJson(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'sa-project',
    private_key_id: 'kid-1',
    private_key: testPrivateKey(),
    client_email: 'gateway@sa-project.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
    ...changes,
  });
}
