import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { storeSettings } from '../../core/settings/source/stored-objects.ts';
import { countVerdicts, GUARD_METRICS } from './metrics.ts';
import type { GuardSettings } from '../../core/kernel/index.ts';
import { guardsIn } from './portkey/guards-in.ts';
import guards from './plugins/guards/index.ts';
import headerMap from './plugins/header-map/index.ts';
import injectPrompt from './plugins/inject-prompt/index.ts';
import portkeyStatuses from './plugins/portkey-statuses/index.ts';
import targetGuards from './plugins/target-guards/index.ts';
import { checkGuards } from './settings/check-guards.ts';
import type { GuardTools } from './run/step.ts';
import { placesOf } from './settings/places.ts';

/** @param count undefined in a dry run, which calls nothing outside the process */
const sourceOf = (count?: GuardTools['count']): SnapshotSource => ({
  compose({ settings, server, shared }) {
    const places = placesOf(settings);
    const { portkey_statuses: portkey = false } = settings.server;
    // A key of the state store may bring guards while the chains stay.
    const ofRequests =
      places.request || (places.target && portkey) || (storeSettings(settings.server)?.owns.includes('keys') ?? false);
    const { clock, upstream, log, pluginFault } = shared;
    const tools = {
      clock,
      exchange: upstream.exchange,
      log,
      pluginFault,
      maxBytes: server.limits.reply,
      dry: count === undefined,
      count,
      wholeReplies: portkey,
    };
    const capability = {
      guards: {
        async open(level: 'request' | 'attempt') {
          const { openGuards } = await import('./run/guard-chain.ts');
          return openGuards(level, settings.server.guards, tools);
        },
      },
    };
    return {
      granted: { request: capability, attempt: capability },
      plugins: [
        ...(portkey ? [{ level: 'entry', name: 'portkey-statuses', before: 'errors', always: true } as const] : []),
        ...(ofRequests ? [{ level: 'request', name: 'guards', before: 'route', always: true } as const] : []),
        ...(places.target ? [{ level: 'attempt', name: 'target-guards', before: 'cache', always: true } as const] : []),
      ],
    };
  },
});

const ofList = (guards: readonly GuardSettings[]): { readonly guards?: readonly GuardSettings[] } =>
  guards.length > 0 ? { guards } : {};

export const parts: AddOnParts = {
  plugins: [headerMap, injectPrompt, guards, targetGuards, portkeyStatuses],
  checks: [checkGuards],
  metrics: GUARD_METRICS,
  added: {
    caller: (key) => (key.guards ? { guards: key.guards } : {}),
    config: (file) => ofList(guardsIn(file)),
    target: (file, { guards: around = [] }) => ofList([...around, ...guardsIn(file)]),
  },
  open: ({ metrics }) => ({
    ...sourceOf(countVerdicts(metrics.families)),
    dry: () => sourceOf(),
    isolated: () => sourceOf(),
  }),
  dry: () => sourceOf(),
};
