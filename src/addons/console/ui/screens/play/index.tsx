import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { allOf, api, ask, dataUrl, needs, session, useLoad } from '../../api/index.ts';
import { address } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { Choice, memberOf, TextArea, TextField } from '../../parts/fields.tsx';
import { ms, NONE } from '../../parts/format.ts';
import { Head } from '../../parts/head.tsx';
import { Markdown } from '../../parts/markdown.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Command, Problem } from '../../parts/states.tsx';
import { codeOf } from './code.ts';
import { createColumn, type Column } from './column.ts';
import { callOf, NO_ASK, type PlayAsk } from './conversation.ts';

const MOST_COLUMNS = 3;

// Drafts live as long as the page, and no longer: prompts are in no address and no storage.
const draft: { ask: PlayAsk; columns: readonly Column[] } = { ask: NO_ASK, columns: [createColumn('@simulator/demo')] };

/** The drafts of the page, and what an address adds to them. */
function useDraft() {
  const { query } = address.value;
  const asking = useSignal<PlayAsk>({
    ...draft.ask,
    as: query.get('as') ?? draft.ask.as,
    config: query.get('config') ?? draft.ask.config,
  });
  const columns = useSignal(draft.columns);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const model = query.get('model');
    if (model !== null && columns.value[0]) columns.value[0].model.value = model;
  }, []);
  useEffect(() => {
    draft.ask = asking.value;
    draft.columns = columns.value;
  }, [asking.value, columns.value]);
  const send = (): void => {
    problem.value = undefined;
    try {
      const calls = columns.value.map((column) => callOf(asking.value, column.model.value));
      columns.value.forEach((column, index) => column.start(calls[index] ?? {}));
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  return { asking, columns, problem, send };
}

/** A request as a key, without its secret. Up to three models answer beside each other. */
export function Playground() {
  const { asking, columns, problem, send } = useDraft();
  const remove = (column: Column) => () => void (columns.value = columns.value.filter((one) => one !== column));
  return (
    <>
      <Head title="Playground" />
      <div class="body play">
        <form class="stack" onSubmit={(event) => event.preventDefault()}>
          <AskFields asking={asking} />
          {problem.value !== undefined && <p class="notice failed">{problem.value}</p>}
          <SendRow asking={asking.value} columns={columns} onSend={send} />
          <p class="third">
            The request takes the path of every other: limits and budgets of the key count, and it costs what it costs.
          </p>
        </form>
        <div class="columns">
          {columns.value.map((column, index) => (
            <ReplyColumn
              key={index}
              column={column}
              onRemove={columns.value.length === 1 ? undefined : remove(column)}
            />
          ))}
        </div>
        <CodeOf ask={asking.value} model={columns.value[0]?.model.value ?? ''} />
      </div>
    </>
  );
}

interface SendProps {
  readonly asking: PlayAsk;
  readonly columns: Signal<readonly Column[]>;
  readonly onSend: () => void;
}

function SendRow({ asking: { as, text }, columns, onSend }: SendProps) {
  const running = columns.value.some(({ now }) => now.value.state === 'running');
  const lack = as === '' ? 'Choose a key first.' : text === '' ? 'Write a message first.' : needs('operator');
  const isFull = columns.value.length >= MOST_COLUMNS;
  return (
    <p class="row">
      <Button label="Send" kind="main" needs={lack} busy={running} onClick={onSend} />
      {running && <Button label="Stop" onClick={() => columns.value.forEach((column) => column.stop())} />}
      <Button
        label="Add a model"
        needs={isFull ? 'Three models are the most.' : undefined}
        onClick={() => void (columns.value = [...columns.value, createColumn()])}
      />
    </p>
  );
}

function AskFields({ asking }: { readonly asking: Signal<PlayAsk> }) {
  const keys = useLoad('keys', (signal) => allOf((query) => ask(api.GET('/keys', { params: { query }, signal }))));
  const settings = useLoad('configs', (signal) => ask(api.GET('/settings', { params: {}, signal })));
  const choice = (name: 'as' | 'config', title: string, none: string, ids: readonly string[] = []) => (
    <Choice
      title={title}
      of={memberOf(asking, name)}
      none={none}
      options={[...new Set([...ids, asking.value[name]])].filter(Boolean)}
    />
  );
  const area = (name: keyof PlayAsk, title: string, placeholder = '') => (
    <TextArea title={title} of={memberOf(asking, name)} placeholder={placeholder} spellcheck={name === 'text'} />
  );
  return (
    <>
      <div class="row">
        {choice(
          'as',
          'As the key',
          'choose a key',
          keys.state.value.data?.map(({ id }) => id),
        )}
        {choice(
          'config',
          'Config',
          "the key's own",
          settings.state.value.data?.configs.map(({ id }) => id),
        )}
      </div>
      {keys.state.value.error && <Problem error={keys.state.value.error} retry={keys.reload} />}
      {area('system', 'System')}
      {area('text', 'Message')}
      <details>
        <summary>Image, tools, JSON schema, parameters</summary>
        <div class="stack">
          {area('image', 'Image, as an address or a data URL')}
          {area('tools', 'Tools, a JSON list', '[{"type":"function","function":{"name":"look_up"}}]')}
          {area('schema', 'JSON schema of the reply', '{"type":"object"}')}
          <div class="row">
            <TextField title="Temperature" of={memberOf(asking, 'temperature')} max={16} />
            <TextField title="Most tokens" of={memberOf(asking, 'maxTokens')} max={16} />
          </div>
        </div>
      </details>
    </>
  );
}

const BEFORE: Readonly<Record<string, string>> = {
  idle: 'The reply appears here.',
  running: 'Waiting for the first content…',
};

function ReplyColumn({ column, onRemove }: { readonly column: Column; readonly onRemove: (() => void) | undefined }) {
  const { model, now } = column;
  const { reply, state, error } = now.value;
  const asText = useSignal(false);
  const { text, thinking, tools } = reply;
  return (
    <section class="card stack" aria-label={`Reply of ${model.value}`}>
      <div class="row">
        <label class="grow">
          <span class="hidden">Model</span>
          <input
            value={model.value}
            placeholder="@entry/model, an alias, or empty for the config's"
            maxLength={256}
            onInput={(event) => void (model.value = event.currentTarget.value)}
          />
        </label>
        {onRemove && <Button label="✕" name="Remove the model" onClick={onRemove} />}
      </div>
      {error && <Problem error={error} />}
      {thinking !== '' && (
        <details>
          <summary>Thinking</summary>
          <p class="second pre">{thinking}</p>
        </details>
      )}
      <div class="reply" aria-live="polite" aria-busy={state === 'running'}>
        {text === '' ? (
          <p class="third">{BEFORE[state]}</p>
        ) : asText.value ? (
          <p class="pre">{text}</p>
        ) : (
          <Markdown text={text} />
        )}
      </div>
      {tools.map(({ name, input }, index) => (
        <pre key={index} class="card scroll" tabIndex={0}>
          {name}({input})
        </pre>
      ))}
      <Figures column={column} asText={asText} />
    </section>
  );
}

function Figures({ column, asText }: { readonly column: Column; readonly asText: Signal<boolean> }) {
  const { reply, state, firstMs, totalMs, requestId } = column.now.value;
  return (
    <p class="row second">
      <span title="first content">{ms(firstMs)}</span>
      <span title="total">{ms(totalMs)}</span>
      <span title="tokens in → out">{reply.tokens || NONE}</span>
      <span>{state === 'stopped' ? 'stopped' : reply.finish}</span>
      <Button
        label="As text"
        kind="plain right"
        pressed={asText.value}
        onClick={() => void (asText.value = !asText.value)}
      />
      {requestId !== undefined && <a href={`#/requests/${encodeURIComponent(requestId)}/why`}>Why</a>}
    </p>
  );
}

function CodeOf({ ask: asked, model }: { readonly ask: PlayAsk; readonly model: string }) {
  const chosen = useSignal('curl');
  const code = ((): ReturnType<typeof codeOf> => {
    try {
      return codeOf(dataUrl(session.value), asked, model);
    } catch {
      return [];
    }
  })();
  const found = code.find(({ name }) => name === chosen.value) ?? code[0];
  return (
    <section class="stack tight" aria-label="The same in code">
      <h2>The same in code</h2>
      <Segments
        label="Client"
        of={code.map(({ name }) => [name, name])}
        chosen={found?.name ?? ''}
        onChoose={(name) => void (chosen.value = name)}
      />
      {found && <Command text={found.text} label={found.name} />}
    </section>
  );
}
