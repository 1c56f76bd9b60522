import { useEffect, useMemo, useRef } from 'preact/hooks';
import { address, go, setQuery } from '../../address.ts';
import { api, ask, may, settingsTurn, useLoad, useRun } from '../../api/index.ts';
import type { ShownPlace } from '../../api/shapes.ts';
import { Editor } from '../../editor/index.tsx';
import type { EditorHandle } from '../../editor/editor.ts';
import { Button } from '../../parts/button.tsx';
import { Head } from '../../parts/head.tsx';
import { Tabs, tabOf } from '../../parts/segments.tsx';
import { useKeys } from '../../parts/shortcuts.ts';
import { Load, Problem, usePaused } from '../../parts/states.tsx';
import { CaseTests, type CaseEvents } from './case-tests.tsx';
import { edit, edits, isBehind, settle, textsWith } from './edits.ts';
import { Effect } from './effect.tsx';
import { History } from './history.tsx';
import { configOf, isStored, loadHealth, loadKnown, loadOpenFile, type OpenText } from './load.ts';
import { Marks, withFix, type Mark } from './marks.tsx';
import { RouteView } from './route-view.tsx';
import { Save, Sides, useSave } from './save.tsx';

/** The gateway checks a text this long after the last key. */
const PAUSE_MS = 300;

const TABS = [
  ['route', 'Route'],
  ['effect', 'Effect'],
  ['tests', 'Tests'],
  ['history', 'History'],
] as const;
type TabName = (typeof TABS)[number][0];

/** One text of the settings: written, checked, tried, and then saved or proposed. */
export const FileView = ({ path }: { readonly path: string }) => (
  <>
    <Head
      title={`Configs: ${configOf(path) ?? path}`}
      actions={
        <Button
          label="All files"
          onClick={() => setQuery({ file: undefined, line: undefined, tab: undefined }, false)}
        />
      }
    />
    <div class="body config">
      <Load of={path} read={(signal) => loadOpenFile(path, signal)} news={settingsTurn.value}>
        {(now, reload) => <Opened now={now} onReload={reload} />}
      </Load>
    </div>
  </>
);

/** The text, after a pause. Its answers come one by one: a late one is dropped. */
function useMarks(path: string, text: string) {
  const asked = usePaused(text, PAUSE_MS);
  const load = useLoad(
    `${path} ${asked.value}`,
    (signal) =>
      ask(api.POST('/settings/validate', { params: {}, body: { files: textsWith(path, asked.value) }, signal })),
    settingsTurn.value,
  );
  /** At once, and again. */
  const check = (): void => {
    if (asked.value === text) load.reload();
    else asked.value = text;
  };
  return { load, check, isOf: asked.value === text };
}

interface OpenedProps {
  readonly now: OpenText;
  readonly onReload: () => void;
}

function Opened({ now, onReload }: OpenedProps) {
  const { path } = now;
  const text = edits.value[path]?.text ?? now.text;
  const tests = useRun<CaseEvents>('/settings/tests');
  const cursor = useCursor(path);
  const runTests = (): void => {
    setQuery({ tab: 'tests' });
    if (may('operator')) tests.start({ files: textsWith(path, text) });
  };
  useEffect(() => settle(now), [now]);
  return (
    <>
      <Written now={now} text={text} cursor={cursor} onTest={runTests} onReload={onReload} />
      <Panels path={path} text={text} show={cursor.show}>
        {(tab) => (tab === 'tests' ? <CaseTests run={tests} onRun={runTests} /> : undefined)}
      </Panels>
    </>
  );
}

interface WrittenProps extends OpenedProps {
  readonly text: string;
  readonly cursor: ReturnType<typeof useCursor>;
  readonly onTest: () => void;
}

/** The editor, with what the validator says below it. */
function Written({ now, text, cursor, onTest, onReload }: WrittenProps) {
  const { path } = now;
  const { load, check, isOf } = useMarks(path, text);
  const known = useLoad(path, (signal) => loadKnown(path, signal), settingsTurn.value);
  const { data: found, error } = load.state.value;
  const marks = useMemo(() => (found?.diagnostics ?? []).filter((one) => one.file === path).map(asMark), [found]);
  const save = useSave(now, text, onReload);
  // Another text than one that can be saved is checked.
  const saveOrCheck = (): void => {
    check();
    if (isStored(path) && save.lacks === undefined) save.doing.run();
  };
  useKeys({ 'Ctrl s': saveOrCheck, 'Ctrl Enter': onTest });
  return (
    <div class="stack">
      <p class="row">
        <span class="mono third grow cut" title={path}>
          {isStored(path) ? 'in the store' : path}
          {now.isNew && ' (new)'}
        </span>
        <Save path={path} save={save} />
      </p>
      {isBehind(edits.value[path], now) && <Sides now={now} text={text} />}
      <Editor
        label={`Text of ${path}`}
        text={text}
        textNow={() => edits.value[path]?.text ?? now.text}
        marks={marks}
        known={known.state.value.data}
        onChange={(next) => edit(now, next)}
        onSave={saveOrCheck}
        onTest={onTest}
        onReady={cursor.ready}
      />
      <p class="third">
        Ctrl S checks or saves, F8 goes to the next mark, Ctrl Enter runs the tests, Esc then Tab leaves the editor.
      </p>
      {error && <Problem error={error} retry={load.reload} />}
      {known.state.value.error && <Problem error={known.state.value.error} retry={known.reload} />}
      {found && (
        <Marks
          marks={found.diagnostics}
          unchecked={found.unchecked}
          path={path}
          onShow={({ file, line = 1, column = 1 }) => cursor.show({ file, line, column })}
          // The places are those of the text that was checked.
          onFix={(fix) => isOf && edit(now, withFix(text, fix))}
        />
      )}
    </div>
  );
}

const asMark = ({ line = 1, column = 1, severity, message, fix }: Mark) => ({
  line,
  column,
  severity: severity === 'error' ? ('error' as const) : ('warning' as const),
  message,
  fix,
});

/** The cursor of the editor, which goes to the line of the address at first. */
function useCursor(path: string) {
  const handle = useRef<Pick<EditorHandle, 'show'>>(undefined);
  const line = address.value.query.get('line');
  useEffect(() => {
    if (line !== null) handle.current?.show(Number(line));
  }, [line]);
  return {
    ready(opened: Pick<EditorHandle, 'show'>): void {
      handle.current = opened;
      if (line !== null) opened.show(Number(line));
    },
    show({ file, line: at, column }: ShownPlace): void {
      if (file === path) handle.current?.show(at, column);
      else go(`/configs?${new URLSearchParams({ file, line: String(at) }).toString()}`);
    },
  };
}

interface PanelsProps {
  readonly path: string;
  readonly text: string;
  readonly show: (place: ShownPlace) => void;
  readonly children: (tab: TabName) => preact.ComponentChildren;
}

function Panels({ path, text, show, children }: PanelsProps) {
  const config = configOf(path);
  const offered = TABS.filter(([name]) => name !== 'route' || config !== undefined);
  const tab = tabOf(offered);
  const health = useLoad(config, (signal) => loadHealth(config ?? '', signal), settingsTurn.value);
  return (
    <div class="stack panels">
      <Tabs label="What to show" of={offered} />
      {tab === 'route' && (
        <RouteView text={text} health={health.state.value.data} onShow={(line) => show({ file: path, line })} />
      )}
      {tab === 'effect' && <Effect files={() => textsWith(path, text)} onShow={show} />}
      {tab === 'history' && <History path={path} />}
      {children(tab)}
    </div>
  );
}
