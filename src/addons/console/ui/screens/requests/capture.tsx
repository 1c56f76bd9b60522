import { useSignal } from '@preact/signals';
import { api, ask, download, needs, session, useAction, useLoad } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { Decide, Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { filterText, isFilter } from '../../parts/filter-text.ts';
import { clock, plural } from '../../parts/format.ts';
import { Command, Loads, Problem, useNow } from '../../parts/states.tsx';

type Shown = ApiSchemas['capture'];

const POLL_MS = 2000;

const right = (): string | undefined =>
  needs('admin') ??
  (session.value?.content === true ? undefined : 'This takes the right `content`, of a token or of admin.content.');

/** The filter of the list as the API takes it. */
function whereOf(query: URLSearchParams): Record<string, string[]> {
  const names = new Set([...query.keys()].filter((name) => isFilter(name) || name === 'q' || name === 'state'));
  return Object.fromEntries([...names].map((name) => [name, query.getAll(name)]));
}

const close = (): void => setQuery({ capture: undefined });

/** Captures of the requests that fit the filter of the list: to start one, to see how far it is, to fetch and to end it. */
export function Captures({ query }: { readonly query: URLSearchParams }) {
  const [requests, minutes] = [useSignal('20'), useSignal('10')];
  const turn = Math.floor(useNow(POLL_MS) / POLL_MS);
  const load = useLoad(
    right() === undefined ? 'captures' : undefined,
    (signal) => ask(api.GET('/captures', { signal })),
    turn,
  );
  const start = useAction(async () => {
    const numbers = { requests: Number(requests.value), minutes: Number(minutes.value) };
    await ask(api.POST('/captures', { params: {}, body: { where: whereOf(query), ...numbers, reason: 'console' } }));
    load.reload();
  });
  const filter = filterText(query);
  const state = query.get('state');
  return (
    <Dialog title="Capture requests" onClose={close} wide>
      <p class="second">
        A capture has whole requests and replies, and those of the upstreams, with the time of each piece. Credentials
        are marks. It is in memory alone, and gone 10 minutes after its minutes. The audit has who captures.
      </p>
      <p>
        It takes <code>{filter === '' && state === null ? 'all requests' : `${filter} ${state ?? ''}`.trim()}</code>, as
        they end from now on: the filter of the list.
      </p>
      <div class="row">
        <TextField title="Requests, at most 100" of={requests} max={3} problem={wrong(requests.value, 100)} />
        <TextField title="Minutes, at most 60" of={minutes} max={2} problem={wrong(minutes.value, 60)} />
      </div>
      <Decide
        verb="Start the capture"
        doing={start}
        needs={wrong(requests.value, 100) ?? wrong(minutes.value, 60) ?? right()}
        onClose={close}
      />
      {right() === undefined && (
        <Loads of={load}>
          {({ items }) => (
            <div class="stack tight" aria-live="polite">
              {items.map((one) => (
                <Row key={one.id} capture={one} onEnd={load.reload} />
              ))}
            </div>
          )}
        </Loads>
      )}
      <Command text="npx gatehouse replay FILE --port 8790" label="Serve a capture again" />
    </Dialog>
  );
}

const wrong = (text: string, most: number): string | undefined =>
  /^[1-9]\d*$/.test(text) && Number(text) <= most ? undefined : `It takes a number from 1 to ${most}.`;

function Row({ capture, onEnd }: { readonly capture: Shown; readonly onEnd: () => void }) {
  const { id, by, state, captured, requests, until, gone_at: goneAt, too_large: tooLarge } = capture;
  const fetching = useAction(() =>
    download(`/captures/${encodeURIComponent(id)}`, new URLSearchParams({ reason: 'console' }), `${id}.jsonl`),
  );
  const ending = useAction(async () => {
    await ask(api.DELETE('/captures/{id}', { params: { path: { id }, query: { reason: 'console' } } }));
    onEnd();
  });
  const error = fetching.error.value ?? ending.error.value;
  return (
    <section class="card stack tight" aria-label={`Capture ${id}`}>
      <p class="row">
        <Chip tone={state === 'running' ? 'running' : 'ok'}>{state}</Chip>
        <span>
          {captured} of {plural(requests, 'request')}
        </span>
        <span class="second">
          {state === 'running' ? `until ${clock(until)}` : `gone at ${clock(goneAt)}`}, by {by}
        </span>
      </p>
      {tooLarge > 0 && <p class="warning-text">{plural(tooLarge, 'request')} too large, and left out.</p>}
      <p class="row">
        <Button label="Download" needs={captured === 0 ? 'It has no request yet.' : undefined} doing={fetching} />
        <Button label="End and drop it" kind="danger" doing={ending} />
      </p>
      {error && <Problem error={error} />}
    </section>
  );
}
