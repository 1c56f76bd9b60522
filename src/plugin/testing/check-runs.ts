import { readsFault } from '../../core/hooks/reads.ts';
import { isCreated } from '../../core/kernel/define.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import type { Plugin } from '../define.ts';
import { checkSplits } from './check-splits.ts';
import type { ExchangeParts } from './exchange.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { finding, type PluginFinding } from './finding.ts';
import { finish, LIMIT_MS_AFTER_LEAVING } from './finish.ts';
import { keptAfter, Leftovers, watchEffects } from './leftovers.ts';
import { createReply } from './reply.ts';
import { makePlugin, readOptionsOf, type HostSetup } from './run-plugin.ts';
import { runScenario, type MadePlugin } from './run-scenario.ts';
import { PLAIN, SCENARIOS } from './scenarios.ts';
import { createCaller } from './settings.ts';

export interface CheckSetup extends HostSetup {
  /** Options to create the plugin with, for a plugin with required options. Default: none. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The request of the runs: headers, caller. Default: a chat request of a caller without restrictions. */
  readonly request?: ExchangeParts;
  /** Texts that the hooks of the plugin change, for the rule `same-text`. Default: an address, a number, a key and words. */
  readonly texts?: readonly string[];
}

/** Capabilities that a plugin of an author may need: each does as little as it can. */
const NEEDS: NonNullable<CheckSetup['needs']> = {
  keys: { find: () => createCaller() },
  attempts: { run: ({ exchange }) => Promise.resolve(void (exchange.reply = createReply('{}'))) },
  limits: { reserve: () => undefined },
  health: { of: () => ({ state: 'closed', retryAt: 0, admits: true, begin: () => NO_TRIAL }) },
};
const NO_TRIAL = { probe: false, succeeded() {}, failed() {}, abandoned() {} };

/** The rules for how a plugin is made, runs and is closed. */
export async function checkRuns(plugin: Plugin, setup: CheckSetup): Promise<readonly PluginFinding[]> {
  const { options = {}, clock = createFakeClock() } = setup;
  const leftovers = new Leftovers(plugin.name);
  const found: PluginFinding[] = [];
  try {
    const { problems } = readOptionsOf(plugin.options, options);
    if (problems) return [finding('options-given', 'options', `the schema refuses those of this check: ${problems}`)];
    const { made, middleware, close } = await makePlugin(plugin, {
      ...setup,
      needs: { ...NEEDS, ...setup.needs },
      clock,
    });
    const fault = readsFault(plugin, made);
    if (fault !== undefined || (plugin.reads === undefined && !isCreated(made)))
      found.push(finding('create', 'create', fault ?? 'it returned no middleware'));
    else {
      found.push(...(await checkMade({ plugin, middleware, clock, request: setup.request, late: [] })));
      found.push(...checkSplits(plugin, made, setup.texts));
    }
    found.push(...(await checkClose(close, clock)));
  } catch (error) {
    found.push(finding('create', 'create', `it fails: ${messageOf(error)}`));
  } finally {
    found.push(...(await leftovers.findings()));
  }
  if (clock.pending.length > 0) found.push(finding('leaks', 'host.clock', 'a timer is left after the close'));
  // The same rule breaks in most scenarios at once.
  return found.filter((one, index) => found.findIndex(({ rule }) => rule === one.rule) === index);
}

async function checkMade(made: MadePlugin): Promise<readonly PluginFinding[]> {
  const { plugin } = made;
  const effects = watchEffects(plugin.name);
  const found: PluginFinding[] = [];
  try {
    for (const scenario of SCENARIOS) {
      const [first, second] = [await runScenario(made, scenario), await runScenario(made, scenario)];
      found.push(...first.findings);
      // Each further run of a plugin that does not end would wait as long.
      if (first.findings.some(({ rule }) => rule === 'ends')) return found;
      if (plugin.pure && first.reply !== second.reply)
        found.push(finding('pure', scenario.name, 'the same request twice gets two replies'));
    }
  } finally {
    const seen = effects.end();
    if (plugin.pure && seen !== undefined) found.push(finding('pure', 'the middleware', `it calls ${seen}`));
  }
  found.push(...(await checkCancellation(made)));
  const kept = await keptAfter(async () => (await runScenario(made, PLAIN)).exchange);
  if (kept !== undefined) found.push(finding('growth', 'the middleware', kept));
  return [...found, ...made.late];
}

/** Waits of a run at which the client leaves, each in a run of its own. */
const MOST_WAITS = 4;

async function checkCancellation(made: MadePlugin): Promise<readonly PluginFinding[]> {
  const tooLong = `it goes on for more than ${LIMIT_MS_AFTER_LEAVING} ms after the client has left`;
  for (let wait = 0; wait < MOST_WAITS; wait += 1) {
    const { left, ended } = await runScenario(made, PLAIN, wait);
    if (!left) return [];
    if (!ended) return [finding('cancellation', `wait ${wait + 1}`, tooLong)];
  }
  return [];
}

async function checkClose(close: () => Promise<void>, clock: FakeClock): Promise<readonly PluginFinding[]> {
  for (const time of ['first', 'second']) {
    const { ended, thrown } = await finish(close(), clock);
    const fault = thrown === undefined ? 'does not end' : `fails: ${messageOf(thrown)}`;
    if (!ended || thrown !== undefined) return [finding('close', 'host.onClose', `the ${time} close ${fault}`)];
  }
  return [];
}
