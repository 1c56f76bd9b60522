import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { completions, filterText, parseFilter } from './filter-text.ts';

const TYPING_MS = 250;

interface FilterProps {
  readonly query: URLSearchParams;
  readonly known: () => Readonly<Record<string, ReadonlySet<string>>>;
  readonly onChange: (query: URLSearchParams) => void;
}

function useFilterField({ query, known, onChange }: FilterProps) {
  const field = useRef<HTMLInputElement>(null);
  const offered = useSignal<ReturnType<typeof completions>>([]);
  const at = useSignal(-1);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const outside = filterText(query);
  useEffect(() => {
    // Text that is typed and not yet in the address stays.
    if (field.current && parseFilter(field.current.value).toString() !== parseFilter(outside).toString())
      field.current.value = outside;
  }, [outside]);
  const offer = (): void => {
    const { value = '', selectionStart } = field.current ?? {};
    offered.value = completions(value, selectionStart ?? value.length, known());
    at.value = -1;
  };
  const apply = (): void => {
    clearTimeout(timer.current);
    onChange(parseFilter(field.current?.value ?? ''));
  };
  const take = (index: number): void => {
    const chosen = offered.value[index];
    if (!chosen || !field.current) return;
    field.current.value = chosen.text;
    field.current.focus();
    if (chosen.text.endsWith(':')) offer();
    else offered.value = [];
    apply();
  };
  const press = (event: KeyboardEvent): void => {
    const size = offered.value.length;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (size === 0) return;
      event.preventDefault();
      at.value = (at.value + (event.key === 'ArrowDown' ? 1 : -1) + size) % size;
    } else if (event.key === 'Enter') {
      if (at.value >= 0) take(at.value);
      else apply();
      offered.value = [];
    } else if (event.key === 'Escape') {
      if (size > 0) offered.value = [];
      else field.current?.blur();
    }
  };
  const type = (): void => {
    offer();
    clearTimeout(timer.current);
    timer.current = setTimeout(apply, TYPING_MS);
  };
  return { field, offered, at, outside, offer, take, press, type };
}

/** A field for `key:search status:5xx words`, with the names and the values that were seen. */
export function FilterBar(props: FilterProps) {
  const { field, offered, at, outside, offer, take, press, type } = useFilterField(props);
  const isOpen = offered.value.length > 0;
  return (
    <div class="filter">
      <input
        ref={field}
        id="filter"
        type="text"
        role="combobox"
        aria-label="Filter"
        aria-expanded={isOpen}
        aria-controls="filter-list"
        aria-autocomplete="list"
        aria-activedescendant={at.value >= 0 ? `filter-${at.value}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={512}
        placeholder="Filter by key, model, status, error, metadata"
        defaultValue={outside}
        onInput={type}
        onFocus={offer}
        onBlur={() => setTimeout(() => (offered.value = []), 120)}
        onKeyDown={press}
      />
      <ul id="filter-list" role="listbox" aria-label="Completions" hidden={!isOpen}>
        {offered.value.map(({ shown }, index) => (
          <li
            key={shown}
            id={`filter-${index}`}
            role="option"
            aria-selected={index === at.value}
            onMouseDown={() => take(index)}
          >
            {shown}
          </li>
        ))}
      </ul>
    </div>
  );
}
