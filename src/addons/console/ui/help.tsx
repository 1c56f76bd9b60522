import { Button } from './parts/button.tsx';
import { Dialog } from './parts/dialog.tsx';
import { next, shortcuts } from './parts/prefs.ts';
import { ALL_PLACES } from './nav.tsx';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'the filter'],
  ['j k', 'the next row, the row before'],
  ['Enter', 'open the row'],
  ['Esc', 'close'],
  ['.', 'pause the new rows'],
  ['Ctrl K', 'a screen, an action or an object by its name'],
  ['?', 'this list'],
];

export function Help({ onClose }: { readonly onClose: () => void }) {
  const places = ALL_PLACES.map(({ key, name }) => [`g ${key}`, name] as const);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="facts">
        {[...KEYS, ...places].map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="row">
        <Button
          label={shortcuts.value === 'on' ? 'Turn the keys off' : 'Turn the keys on'}
          onClick={() => (shortcuts.value = next(['on', 'off'], shortcuts.value))}
        />
        <Button label="Close" kind="main" onClick={onClose} />
      </p>
    </Dialog>
  );
}
