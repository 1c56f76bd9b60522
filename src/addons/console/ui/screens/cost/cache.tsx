import { api, ask } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Grid } from '../../parts/grid.tsx';
import { count, moment, plural, short } from '../../parts/format.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';

type PromptCache = ApiSchemas['prompt_cache'];
type CacheRow = PromptCache['items'][number];
type Example = CacheRow['examples'][number];

/** How much of the prompts came from the caches of providers, and why not more. */
export const PromptCacheView = () => (
  <Load of="cache" read={(signal) => ask(api.GET('/prompt-cache', { params: {}, signal }))}>
    {(found) => <Found found={found} />}
  </Load>
);

function Found({ found }: { readonly found: PromptCache }) {
  return (
    <div class="stack">
      {!found.prefix_hashes && (
        <TurnOn feature="prefix hashes">
          Prompts are not compared, so most causes are unknown. Compare keyed hashes of them
        </TurnOn>
      )}
      {found.items.length === 0 ? (
        <Empty title="No provider has told what it cached">
          <p>
            A request is counted here when the reply has counts of cached input, as those of Anthropic, Google and
            OpenAI have.
          </p>
        </Empty>
      ) : (
        <section class="card" aria-label="Prompt cache">
          <Grid
            label="Input read from the caches of providers"
            head={['Key', 'Model', 'Requests', 'Input', 'From the cache', 'Misses', 'Likely causes of the misses']}
            rows={found.items.map((row) => [
              <span key="key" class="row cost-name">
                {row.key || 'none'}
              </span>,
              row.model,
              count(row.requests),
              `${short(row.input)} tokens`,
              <Share key="share" row={row} />,
              count(row.misses),
              <Causes key="causes" row={row} />,
            ])}
          />
        </section>
      )}
      {found.since !== null && (
        <p class="third">
          Of {plural(found.examined, 'request')} since {moment(found.since)}
          {found.more ? ', the latest that are counted' : ''}.
        </p>
      )}
    </div>
  );
}

function Share({ row: { input, cache_read: read } }: { readonly row: CacheRow }) {
  const share = input === 0 ? 0 : read / input;
  return (
    <span class="budget">
      <span class="bar">
        <i style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span class="mono">{Math.round(share * 100)} %</span>
    </span>
  );
}

/** In a sentence about the request, and the one before it of the same key and model. */
const CAUSES: Readonly<Record<Example['cause'], string>> = {
  first: 'no request before it is kept',
  short: 'the prompt is too short for a cache',
  target: 'the request before went to another target',
  key_order: 'the keys of tools or system prompt came in another order',
  tools: 'the tools changed',
  system: 'the system prompt changed',
  messages: 'earlier messages changed',
  pause: 'the pause was longer than the cache lives',
  unwritten: 'the request before wrote nothing to the cache',
  unknown: 'the prompts were not compared',
  other: 'nothing that is known here changed',
};

const Causes = ({ row }: { readonly row: CacheRow }) => (
  <ul class="causes">
    {row.examples
      .toSorted((one, other) => (row.causes[other.cause] ?? 0) - (row.causes[one.cause] ?? 0))
      .map(({ cause, request_id: id, after }) => (
        <li key={cause}>
          {count(row.causes[cause])} × {CAUSES[cause]}
          {after === null ? '' : after === 0 ? ' at its first bytes' : ` after byte ${count(after)}`},{' '}
          <a href={`#/requests?row=${encodeURIComponent(id)}`}>such as this request</a>
        </li>
      ))}
  </ul>
);
