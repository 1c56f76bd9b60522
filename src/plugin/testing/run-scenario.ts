import { checkReply } from '../../core/http/chain/check-reply.ts';
import type { Middleware } from '../../core/kernel/define.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import type { Plugin } from '../define.ts';
import { GatewayError } from '../errors.ts';
import type { Reply } from '../reply.ts';
import { createAttempt, createContext, createExchange, type ExchangeParts } from './exchange.ts';
import type { FakeClock } from './fake-clock.ts';
import { finding, type PluginFinding, type CheckRule } from './finding.ts';
import { finish, LIMIT_MS } from './finish.ts';
import { readBody } from './reply.ts';
import { BrokenRule, runGuarded } from './run-plugin.ts';
import { FAILURE, type Scenario } from './scenarios.ts';

/** A plugin that has been created, for any number of runs. */
export interface MadePlugin {
  readonly plugin: Plugin;
  readonly middleware: Middleware;
  readonly clock: FakeClock;
  readonly request: ExchangeParts | undefined;
  /** Found after the run that they belong to. */
  readonly late: PluginFinding[];
}

interface Ran {
  readonly exchange: object;
  readonly findings: readonly PluginFinding[];
  readonly ended: boolean;
  /** The client has left. */
  readonly left: boolean;
  /** Everything that the client would get, as one text. */
  readonly reply: string;
}

type Add = (rule: CheckRule, message: string) => void;

/** Runs a plugin once. @param wait the wait of the run at which the client leaves. Default: it stays */
export async function runScenario(made: MadePlugin, scenario: Scenario, wait = Infinity): Promise<Ran> {
  const { plugin, middleware, clock, request, late } = made;
  const findings: PluginFinding[] = [];
  const add: Add = (rule, message) => void findings.push(finding(rule, scenario.name, message));
  const exchange = createExchange({ ...scenario.request, startedAt: clock.now(), ...request });
  const attempt = plugin.level === 'attempt' ? createAttempt(exchange, { startedAt: clock.now() }) : undefined;
  const ctx = createContext(exchange, attempt);
  const next = (): void => void ((attempt ?? exchange).reply = scenario.reply());
  const onLate = ({ rule, message }: BrokenRule) => void late.push(finding(rule, scenario.name, message));
  const leave = (): void => {
    const gone = new GatewayError('client_closed', 'The client has left.');
    for (const { cancellation } of [...exchange.attempts, exchange]) cancellation.cancel(gone);
  };
  const work = runGuarded(plugin, middleware, { ctx, next, onLate });
  const { ended, left, value: calls, thrown } = await finish(work, clock, { wait, leave });
  if (!ended) add('ends', `it has not ended after ${LIMIT_MS / 1000} s`);
  addThrown(thrown, add);
  const reply = attempt?.reply ?? exchange.reply;
  if (calls === 0 && reply === undefined && ctx.status === 404 && ctx.body === undefined)
    add('replies', 'it neither calls `next()` nor replies');
  const body = ended && reply ? await readReply(reply, clock, add) : '';
  if (body === '' && reply?.status === 200 && findings.length === 0 && scenario !== FAILURE)
    add('reply-passes', 'the body of its reply is empty');
  exchange.end();
  // A call of `next()` after the end.
  await clock.advance(0);
  const code = thrown instanceof GatewayError ? thrown.code : '';
  return { exchange, findings, ended, left, reply: JSON.stringify([code, reply?.status, reply?.headers, body]) };
}

async function readReply(reply: Reply, clock: FakeClock, add: Add): Promise<string> {
  const wrong = checkReply(reply);
  if (wrong !== undefined) {
    add('reply', `its reply cannot be sent: ${wrong}`);
    return '';
  }
  const { ended, value, thrown } = await finish(readBody(reply.body), clock);
  if (!ended) add('reply-passes', 'the body of its reply does not end');
  addThrown(thrown, add);
  return value ?? (thrown instanceof GatewayError ? thrown.code : '');
}

function addThrown(thrown: unknown, add: Add): void {
  if (thrown instanceof BrokenRule) return add(thrown.rule, thrown.message);
  if (thrown === undefined || thrown instanceof GatewayError) return;
  const message = messageOf(thrown);
  const isFrozen = /read only property|not extensible|Cannot delete property/.test(message);
  if (thrown instanceof TypeError && isFrozen) add('frozen-body', `it writes into the body: ${message}`);
  else add('errors', `it throws ${message}`);
}
