import { useSignal } from '@preact/signals';
import { address, go, setQuery } from '../../address.ts';
import { api, ask } from '../../api/client.ts';
import { settingsTurn } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { owns } from '../../api/session.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Chip } from '../../parts/chip.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { count, plural } from '../../parts/format.ts';
import { TextField } from '../../parts/fields.tsx';
import { Nothing, SearchField } from '../../parts/search-field.tsx';
import { Action, Loads } from '../../parts/states.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { edits } from './edits.ts';
import { FileView } from './file-view.tsx';
import { isStored, pathOfConfig } from './load.ts';

/** The settings in force as texts: read, edited, tried before they are written. */
export function Configs() {
  const file = address.value.query.get('file');
  return file === null ? <Files /> : <FileView key={file} path={file} />;
}

type Settings = ApiSchemas['settings'];

interface Row {
  readonly path: string;
  readonly bytes: number | undefined;
  readonly mistakes: number;
  readonly warnings: number;
}

const addressOf = (path: string): string => `#/configs?file=${encodeURIComponent(path)}`;

/** Gateway configs come first, then the files of the whole gateway. */
function rowsOf({ files, reload, warnings }: Settings): readonly Row[] {
  const marksOf = (path: string, list: Settings['warnings']): number => list.filter(({ file }) => file === path).length;
  const written = files.map(({ path, bytes }) => ({ path, bytes }));
  const fresh = Object.keys(edits.value).filter((path) => !files.some((one) => one.path === path));
  const refused = reload?.ok === false ? reload.diagnostics.filter(({ severity }) => severity === 'error') : [];
  return [...written, ...fresh.map((path) => ({ path, bytes: undefined }))]
    .map((one) => ({ ...one, mistakes: marksOf(one.path, refused), warnings: marksOf(one.path, warnings) }))
    .toSorted(
      (one, other) =>
        Number(!one.path.includes('/')) - Number(!other.path.includes('/')) || (one.path < other.path ? -1 : 1),
    );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'name',
    label: 'Text',
    title: ({ path }) => path,
    cell: ({ path }) => (
      <a class="mono" href={addressOf(path)}>
        {path}
      </a>
    ),
  },
  { name: 'owner', label: 'Where it is', cell: ({ path }) => (isStored(path) ? 'in the store' : 'in a file') },
  {
    name: 'marks',
    label: 'Marks',
    cell: ({ path, mistakes, warnings }) =>
      mistakes > 0 ? (
        <Chip tone="failed">{plural(mistakes, 'mistake')}</Chip>
      ) : path in edits.value ? (
        <Chip tone="running">edited, not saved</Chip>
      ) : warnings > 0 ? (
        <Chip tone="warning">{plural(warnings, 'warning')}</Chip>
      ) : (
        <span class="third">none</span>
      ),
  },
  { name: 'size', label: 'Bytes', number: true, cell: ({ bytes }) => <span class="num">{count(bytes)}</span> },
];

function Files() {
  const adding = useSignal(false);
  const load = useLoad('settings', (signal) => ask(api.GET('/settings', { params: {}, signal })), settingsTurn.value);
  const words = address.value.query.get('q') ?? '';
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">Configs</h1>
          <button type="button" class="main" onClick={() => void (adding.value = true)}>
            New config
          </button>
        </div>
        <SearchField label="Find a file" />
      </header>
      <div class="list">
        <Loads state={load.state.value} retry={load.reload}>
          {(settings) => {
            const rows = rowsOf(settings);
            const shown = rows.filter(({ path }) => path.includes(words));
            return (
              <>
                <Refused settings={settings} />
                {shown.length === 0 ? (
                  <Nothing total={rows.length} noun="file" add={['Go to the overview', '#/']}>
                    The gateway has no settings files.
                  </Nothing>
                ) : (
                  <Table
                    label="Settings"
                    layout="settings"
                    columns={COLUMNS}
                    rows={shown}
                    idOf={({ path }) => path}
                    onOpen={(path) => setQuery({ file: path }, false)}
                  />
                )}
              </>
            );
          }}
        </Loads>
      </div>
      {adding.value && <NewConfig onClose={() => void (adding.value = false)} />}
    </>
  );
}

/** Files with mistakes on the disk: the settings before them serve. */
function Refused({ settings: { reload } }: { readonly settings: Settings }) {
  const first = reload?.ok === false ? reload.diagnostics.find(({ severity }) => severity === 'error') : undefined;
  if (!first) return null;
  return (
    <p class="notice failed">
      The last reload was refused, and the settings before it serve. The texts here are theirs. On the disk,{' '}
      <a href={addressOf(first.file)}>{first.file}</a> has a mistake in line {first.line}: {first.message}
    </p>
  );
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function NewConfig({ onClose }: { readonly onClose: () => void }) {
  const id = useSignal('');
  const isGood = ID.test(id.value) && !/\.test$/i.test(id.value);
  const inStore = owns('configs');
  const open = (): void => {
    onClose();
    go(addressOf(pathOfConfig(id.value, inStore)));
  };
  return (
    <Dialog title="New config" onClose={onClose}>
      <TextField
        title="Its id, for the header x-gateway-config"
        of={id}
        max={64}
        problem={id.value === '' || isGood ? undefined : 'Letters, digits, `.`, `_` and `-`, not ending in .test.'}
      />
      <p class="second">{inStore ? 'The store will have it.' : 'It will be a file of gateway/, by a patch.'}</p>
      <p class="row">
        <Action kind="main" needs={isGood ? undefined : 'An id is needed first.'} onClick={open}>
          Open the editor
        </Action>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}
