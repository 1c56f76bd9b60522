import { useEffect } from 'preact/hooks';
import { api, ask } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import type { ListedRequest, ShownRequest } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { count, moment, ms, NONE, usd } from '../../parts/format.ts';
import { zone } from '../../parts/prefs.ts';
import { Copy, Loads } from '../../parts/states.tsx';
import { isRescued } from './rescued.ts';
import { Texts } from './texts.tsx';
import { failureOf, timelineOf } from './timeline.ts';

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
  return (
    <Drawer label={`Request ${id}`}>
      <Loads state={load.state.value} retry={load.reload}>
        {(request) => <Detail request={request} />}
      </Loads>
      {load.state.value.error && <Close />}
    </Drawer>
  );
}

const Close = () => (
  <button type="button" aria-label="Close" onClick={() => setQuery({ row: undefined })}>
    ✕
  </button>
);

function Detail({ request }: { readonly request: ShownRequest }) {
  const { request_id: id, state, status } = request;
  const word = isRescued(request) ? 'rescued' : state;
  const answered = request.attempts.find((attempt) => attempt.answered);
  return (
    <div class="stack detail">
      <div class="row top">
        <div class="grow">
          <p class="row">
            <Chip tone={toneOf(word)}>
              {word} {status ?? ''}
            </Chip>
            <span class="second">{moment(request.time, zone.value)}</span>
          </p>
          <p class="mono second">{id}</p>
        </div>
        <a class="button" href={`#/requests/${encodeURIComponent(id)}/why`}>
          Why
        </a>
        <Close />
      </div>
      <Failures request={request} />
      <dl class="figures">
        <Figure name="total" value={ms(request.duration_ms)} />
        <Figure name="first content" value={ms(request.first_content_ms)} />
        <Figure
          name="tokens in → out"
          value={answered?.tokens ? `${count(answered.tokens.input)} → ${count(answered.tokens.output)}` : NONE}
        />
        <Figure name="cost" value={usd(request.cost_usd)} />
      </dl>
      <Timeline request={request} />
      <Facts request={request} />
      <p class="row">
        <Copy text={id} label="Copy the id" />
        {request.key_id !== undefined && (
          <a
            class="button"
            href={`#/play?as=${encodeURIComponent(request.key_id)}${modelQuery(request)}&from=${encodeURIComponent(id)}`}
          >
            Open in playground
          </a>
        )}
      </p>
      <Texts request={request} />
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

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd class="cut" title={value}>
      {value}
    </dd>
  </div>
);

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
  by === undefined ? (error?.type ?? '') : `the limit ${by} refused it`;

function Timeline({ request }: { readonly request: ShownRequest }) {
  const rows = timelineOf(request);
  return (
    <section class="card" aria-label="What happened">
      <h2 class="small">What happened</h2>
      {rows.length === 0 ? (
        <p class="second">No target was tried.</p>
      ) : (
        <div class="timeline">
          {rows.map(({ provider, model, target, segments, status }, index) => (
            <TimelineLane
              key={index}
              name={provider}
              model={model}
              target={target}
              segments={segments}
              status={status}
            />
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

type Lane = Pick<ReturnType<typeof timelineOf>[number], 'model' | 'target' | 'segments' | 'status'> & {
  readonly name: string;
};

const TimelineLane = ({ name, model, target, segments, status }: Lane) => (
  <>
    <span class="cut" title={`${target}: @${name}/${model}`}>
      {name} <span class="third">{model}</span>
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

function Facts({ request }: { readonly request: ShownRequest }) {
  const losses = request.attempts.flatMap(({ losses: lost = [] }) => lost);
  const metadata = Object.entries(request.metadata ?? {});
  return (
    <dl class="facts">
      <dt>Key</dt>
      <dd>
        {request.key_id === undefined ? (
          <span class="third">none</span>
        ) : (
          <a href={`#/keys?key=${encodeURIComponent(request.key_id)}`}>{request.key_id}</a>
        )}{' '}
        {request.team !== undefined && <span class="second">team {request.team}</span>}
      </dd>
      <dt>Config</dt>
      <dd>
        {request.config?.id ?? 'none'} <span class="mono third">{request.config?.hash.slice(0, 16)}</span>
      </dd>
      <dt>Client</dt>
      <dd>
        {request.client_ip ?? 'unknown'}, {request.path}
        {request.origin === 'playground' && ' (playground)'}
      </dd>
      <dt>Gateway time</dt>
      <dd>
        {ms(request.overhead_ms)} of {ms(request.duration_ms)}
      </dd>
      {request.cost_unknown !== undefined && (
        <>
          <dt>Cost</dt>
          <dd>unknown: {request.cost_unknown.replaceAll('_', ' ')}</dd>
        </>
      )}
      {metadata.length > 0 && (
        <>
          <dt>Metadata</dt>
          <dd class="mono">{metadata.map(([name, value]) => `${name}=${value}`).join(' ')}</dd>
        </>
      )}
      {losses.length > 0 && (
        <>
          <dt>Not sent on</dt>
          <dd class="mono">{losses.join(', ')}</dd>
        </>
      )}
    </dl>
  );
}
