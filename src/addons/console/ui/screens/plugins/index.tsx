import { api, ask, settingsTurn } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { count, NONE } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Head } from '../../parts/head.tsx';
import { hasWords, Nothing } from '../../parts/search-field.tsx';
import { Load } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';

type Plugin = ApiSchemas['plugin'];

const CHAINS = [
  ['entry', 'Entry chain', 'Runs for each request.'],
  ['request', 'Request chain', 'Runs when the gateway config of the request is known.'],
  ['attempt', 'Attempt chain', 'Runs for each target that is tried.'],
] as const;

/** The plugins in the order in which they run, with the time that each takes itself. */
export const Plugins = () => (
  <>
    <Head title="Plugins" find="Find a plugin" />
    <div class="body">
      <Load
        of="plugins"
        read={async (signal) => (await ask(api.GET('/plugins', { params: {}, signal }))).items}
        news={settingsTurn.value}
      >
        {(plugins) => <Chains plugins={plugins} shown={plugins.filter(({ name }) => hasWords(name))} />}
      </Load>
    </div>
  </>
);

function Chains({ plugins, shown }: { readonly plugins: readonly Plugin[]; readonly shown: readonly Plugin[] }) {
  if (shown.length === 0)
    return (
      <Nothing total={plugins.length} noun="plugin" add={['Go to the overview', '#/']}>
        Chains of server.yaml have plugins.
      </Nothing>
    );
  return (
    <div class="stack">
      {plugins.every(({ own, external }) => external || own === null) && (
        <TurnOn feature="plugins">Only external plugins are measured. Measure all of them</TurnOn>
      )}
      {CHAINS.map(([level, title, says]) => {
        const rows = shown.filter((one) => one.level === level);
        return (
          rows.length > 0 && (
            <section key={level} class="card stack tight" aria-label={title}>
              <h2 class="small">{title}</h2>
              <p class="third">{says}</p>
              <Grid
                label={`Plugins of the ${title.toLowerCase()}`}
                head={['Order', 'Plugin', 'From', 'Runs', 'Own time, mean', '95 % within', 'Errors']}
                rows={rows.map((one) => [
                  plugins.filter((all) => all.level === level).indexOf(one) + 1,
                  ...cellsOf(one),
                ])}
              />
            </section>
          )
        );
      })}
      <p class="second">
        Own time is without that of the plugins after it; waiting counts, so <code>send</code> has the time of its
        upstream. A config may have plugins of its own: Why shows those of a request.
      </p>
    </div>
  );
}

const time = (ms: number | null | undefined): string =>
  ms === null || ms === undefined ? NONE : `${ms < 10 ? ms.toFixed(2) : count(Math.round(ms))} ms`;

const cellsOf = ({ name, plugin, external, own, errors }: Plugin) => [
  <span class="strong" title={plugin === name ? undefined : `an instance of ${plugin}`}>
    {name}
  </span>,
  external ? 'a module of yours' : 'this build',
  own === null ? NONE : count(own.runs),
  time(own?.mean_ms),
  own?.p95_ms === null ? 'above all buckets' : time(own?.p95_ms),
  errors.length === 0 ? NONE : errors.map(({ what, count: times }) => `${what}: ${count(times)}`).join(', '),
];
