import { useEffect } from 'preact/hooks';
import { address, setQuery } from '../../address.ts';
import { api, ask, useLoad } from '../../api/index.ts';
import type { ApiSchemas, ListedRequest, ShownRequest } from '../../api/shapes.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts, Figures } from '../../parts/facts.tsx';
import { count, moment, ms, NONE, unpriced, usd } from '../../parts/format.ts';
import { Copy, Loads } from '../../parts/states.tsx';
import { Tests } from '../../parts/tests.tsx';
import { TestCase, Texts } from './texts.tsx';
import { failureOf, isRescued, timelineOf, type TimelineRow } from './timeline.ts';

/** The record of one request. */
export function RequestDetail({ id, line }: { readonly id: string; readonly line: ListedRequest | undefined }) {
  // A request that ended meanwhile has more to show.
  const load = useLoad(
    `${id} ${line?.state === 'running' ? 'running' : ''}`,
    async (signal) =>
      // The document leaves members of a record open that this page knows.
      (await ask(api.GET('/requests/{id}', { params: { path: { id } }, signal }))) as unknown as ShownRequest,
  );
  useEffect(() => {
    document.querySelector<HTMLElement>('.drawer')?.scrollTo(0, 0);
  }, [id]);
  const { data } = load.state.value;
  return (
    <Drawer label={`Request ${id}`} name="row" head={data ? <Head request={data} /> : <p class="mono second">{id}</p>}>
      <Loads of={load}>{(request) => <Detail request={request} />}</Loads>
    </Drawer>
  );
}

function Head({ request }: { readonly request: ShownRequest }) {
  const { request_id: id, state, status } = request;
  const word = isRescued(request) ? 'rescued' : state;
  return (
    <>
      <p class="row">
        <Chip tone={toneOf(word)}>
          {word} {status ?? ''}
        </Chip>
        <span class="second">{moment(request.time)}</span>
        <ButtonLink label="Why" href={`#/requests/${encodeURIComponent(id)}/why`} kind="right" />
      </p>
      <p class="mono second">{id}</p>
    </>
  );
}

function Detail({ request }: { readonly request: ShownRequest }) {
  const { request_id: id } = request;
  const tokens = request.attempts.find((attempt) => attempt.answered)?.tokens;
  return (
    <div class="stack detail">
      <Failures request={request} />
      <Figures
        of={[
          ['total', ms(request.duration_ms)],
          ['first content', ms(request.first_content_ms)],
          ['tokens in → out', tokens ? `${count(tokens.input)} → ${count(tokens.output)}` : NONE],
          ['cost', usd(request.cost_usd)],
        ]}
      />
      <Timeline request={request} />
      <Facts of={factsOf(request)} />
      <p class="row">
        <Copy text={id} label="Copy the id" />
        <Copy text={() => curlOf(id)} label="Copy as curl" />
        <Button label="Make a test case" onClick={() => setQuery({ case: '1' })} />
        {request.key_id !== undefined && (
          <ButtonLink
            label="Open in playground"
            href={`#/play?as=${encodeURIComponent(request.key_id)}${modelQuery(request)}`}
          />
        )}
      </p>
      <Texts request={request} />
      {address.value.query.get('case') !== null && <TestCase id={id} />}
    </div>
  );
}

const modelQuery = ({ attempts, config }: ShownRequest): string => {
  const [first] = attempts;
  if (config) return `&config=${encodeURIComponent(config.id)}`;
  return first?.request_model === undefined
    ? ''
    : `&model=${encodeURIComponent(`@${first.provider}/${first.request_model}`)}`;
};

/** Without its key and its texts. */
async function curlOf(id: string): Promise<string> {
  const answer = await ask(api.GET('/requests/{id}/curl', { params: { path: { id } } }));
  // The page asks for JSON.
  return (answer as ApiSchemas['record_curl']).command;
}

/** Failures in the provider's words: those that the client got in red, those that a later target rescued in amber. */
function Failures({ request }: { readonly request: ShownRequest }) {
  const failures = request.attempts.flatMap((attempt) => failureOf(attempt) ?? []);
  const tone = request.state === 'failed' ? 'failed' : 'warning';
  const own =
    failures.length === 0 && request.error ? [{ code: request.error.code ?? 'error', text: limitText(request) }] : [];
  return (
    <>
      {[...failures, ...own].map(({ code, text }, index) => (
        <p key={index} class={`notice ${tone}`}>
          <strong>{code}</strong>
          {text === '' ? '' : `: ${text}`}
        </p>
      ))}
      {request.client_left !== undefined && <p class="notice warning">The client left: {request.client_left}.</p>}
    </>
  );
}

const limitText = ({ limited_by: by, error }: ShownRequest): string =>
  by === undefined ? `no target was called: ${error?.type ?? 'refused'}` : `the limit ${by} refused it`;

function Timeline({ request }: { readonly request: ShownRequest }) {
  const rows = timelineOf(request);
  return (
    <section class="card" aria-label="What happened">
      <h2 class="small">What happened</h2>
      {rows.length === 0 ? (
        <p class="second">No target was tried.</p>
      ) : (
        <div class="timeline">
          {rows.map((row, index) => (
            <TimelineLane key={index} {...row} />
          ))}
          <p class="axis">
            <span>0</span>
            <span>{ms(request.duration_ms / 2)}</span>
            <span>{ms(request.duration_ms)}</span>
          </p>
        </div>
      )}
      {request.skipped.map(({ target, target_name: name, reason }) => (
        <p key={target} class="second">
          {name ?? target} was skipped: {reason.replaceAll('_', ' ')}.
        </p>
      ))}
    </section>
  );
}

const TimelineLane = ({ provider, model, target, segments, status }: TimelineRow) => (
  <>
    <span class="cut" title={`${target}: @${provider}/${model}`}>
      {provider} <span class="third">{model}</span>
    </span>
    <span class="lane" role="img" aria-label={segments.map(({ title }) => title).join(', ') || 'nothing was sent'}>
      {segments.map(({ kind, from, size, title }, index) => (
        <i
          key={index}
          class={kind}
          title={title}
          style={{ left: `min(${from}%, calc(100% - 3px))`, width: `${size}%` }}
        />
      ))}
    </span>
    <span class="num">{status}</span>
  </>
);

function factsOf(request: ShownRequest): Parameters<typeof Facts>[0]['of'] {
  const { key_id: key, team, config, cost_unknown: unknown, metadata = {}, conditions = [] } = request;
  const losses = request.attempts.flatMap(({ losses: lost = [] }) => lost);
  const tests = conditions.flatMap((branch) => branch.tests ?? []);
  const words = Object.entries(metadata).map(([name, value]) => `${name}=${value}`);
  return [
    [
      'Key',
      <>
        {key === undefined ? (
          <span class="third">none</span>
        ) : (
          <a href={`#/keys?key=${encodeURIComponent(key)}`}>{key}</a>
        )}{' '}
        {team !== undefined && <span class="second">team {team}</span>}
      </>,
    ],
    [
      'Config',
      <>
        {config?.id ?? 'none'} <span class="mono third">{config?.hash.slice(0, 16)}</span>
      </>,
    ],
    [
      'Client',
      `${request.client_ip ?? 'unknown'}, ${request.path}${request.origin === 'playground' ? ' (playground)' : ''}`,
    ],
    ['Gateway time', `${ms(request.overhead_ms)} of ${ms(request.duration_ms)}`],
    ['Cost', unknown && `unknown: ${unpriced(unknown)}`],
    ['Conditions', tests.length > 0 ? <Tests tests={tests} /> : undefined],
    ['Metadata', words.length > 0 ? <span class="mono">{words.join(' ')}</span> : undefined],
    ['Not sent on', losses.length > 0 ? <span class="mono">{losses.join(', ')}</span> : undefined],
  ];
}
