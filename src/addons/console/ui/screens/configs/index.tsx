import { useSignal } from '@preact/signals';
import { address, go } from '../../address.ts';
import { api, ask, owns, settingsTurn } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Button, Opens } from '../../parts/button.tsx';
import type { Tone } from '../../parts/chip.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { count, plural } from '../../parts/format.ts';
import { TextField } from '../../parts/fields.tsx';
import { Head } from '../../parts/head.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Load } from '../../parts/states.tsx';
import { nameColumn, stateColumn, textColumn, type Column } from '../../parts/columns.tsx';
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

function marksText({ path, mistakes, warnings }: Row): string {
  if (mistakes > 0) return plural(mistakes, 'mistake');
  if (path in edits.value) return EDITED;
  return warnings > 0 ? plural(warnings, 'warning') : 'none';
}

const EDITED = 'edited, not saved';
const marksTone = (text: string): Tone =>
  text.includes('mistake') ? 'failed' : text === EDITED ? 'running' : text === 'none' ? 'plain' : 'warning';

const COLUMNS: readonly Column<Row>[] = [
  nameColumn(
    'Text',
    [180, 3],
    ({ path }) => path,
    ({ path }) => addressOf(path),
  ),
  textColumn('Where it is', [90, 1], ({ path }) => (isStored(path) ? 'in the store' : 'in a file'), 'narrow'),
  stateColumn('Marks', 116, marksText, marksTone),
  { label: 'Bytes', width: 90, off: 'narrow', number: true, cell: ({ bytes }) => count(bytes) },
];

const Files = () => (
  <>
    <Head
      title="Configs"
      find="Find a file"
      actions={
        <Opens label="New config" kind="main">
          {(close) => <NewConfig onClose={close} />}
        </Opens>
      }
    />
    <Load of="settings" read={(signal) => ask(api.GET('/settings', { params: {}, signal }))} news={settingsTurn.value}>
      {(settings) => (
        <>
          <Refused settings={settings} />
          <Rows
            label="Settings"
            columns={COLUMNS}
            rows={rowsOf(settings)}
            idOf={({ path }) => path}
            at="file"
            found={{
              noun: 'file',
              wordsOf: ({ path }) => path,
              add: ['Go to the overview', '#/'],
              about: 'The gateway has no settings files.',
            }}
          />
        </>
      )}
    </Load>
  </>
);

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
        <Button
          label="Open the editor"
          kind="main"
          needs={isGood ? undefined : 'An id is needed first.'}
          onClick={open}
        />
        <Button label="Cancel" onClick={onClose} />
      </p>
    </Dialog>
  );
}
