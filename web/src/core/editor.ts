// SPDX-License-Identifier: Apache-2.0
// Typing into a cell, as in a spreadsheet: a focused cell is a cursor until the reader types (or presses F2,
// or clicks again); then it is a text field until Enter, Tab, an arrow up or down, or Escape.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { GridCursor } from './cursor.js';
import { parseNumber } from './format.js';

export interface CellPlace {
  grid: string;
  row: number;
  column: number;
}

export interface EditorHost extends ReactiveControllerHost {
  /** Shows a value while it is typed. */
  previewCell(place: CellPlace, value: number): void;
  commitCell(place: CellPlace, value: number): void;
  /** Back to the committed state; `text` was no number, or undefined when the reader gave up. */
  dropCell(place: CellPlace, text?: string): void;
  cellValue(place: CellPlace): number;
}

export class CellEditor implements ReactiveController {
  private draft: (CellPlace & { text: string }) | undefined;

  constructor(
    private host: EditorHost,
    private cursor: GridCursor,
  ) {
    host.addController(this);
  }
  hostConnected(): void {}

  /** What the cell shows: the draft while it is typed. */
  text(place: CellPlace, committed: string): string {
    const { draft } = this;
    return draft && same(draft, place) ? draft.text : committed;
  }

  isInvalid(place: CellPlace): boolean {
    const { draft } = this;
    return !!draft && same(draft, place) && parseNumber(draft.text) === undefined;
  }

  input = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const place = placeOf(input);
    this.draft = { ...place, text: input.value };
    const value = parseNumber(input.value);
    if (value !== undefined) this.host.previewCell(place, value);
    this.host.requestUpdate();
  };

  /** The first press makes the cell the cursor, with all of its text selected; the second sets a caret. */
  pointerDown = (event: PointerEvent): void => {
    const input = event.target as HTMLInputElement;
    if ((input.getRootNode() as ShadowRoot).activeElement === input) {
      this.begin(input);
      return;
    }
    event.preventDefault();
    input.focus();
    input.select();
  };

  focus = (event: FocusEvent): void => (event.target as HTMLInputElement).select();

  blur = (): void => this.finish();

  key = (event: KeyboardEvent): void => {
    const input = event.target as HTMLInputElement;
    const place = placeOf(input);
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault();
      this.finish();
      const step = (event.shiftKey ? 0.1 : 1) * (event.key === 'ArrowUp' ? 1 : -1);
      this.host.commitCell(place, Math.round((this.host.cellValue(place) + step) * 1e6) / 1e6);
      void this.host.updateComplete.then(() => input.select());
      return;
    }
    if (!this.draft) {
      if (event.key === 'F2') {
        event.preventDefault();
        this.begin(input);
        input.setSelectionRange(input.value.length, input.value.length);
      } else if (event.key === 'Enter') {
        event.preventDefault();
        this.cursor.move(place.grid, place.row + 1, place.column);
      } else {
        this.cursor.key(event);
      }
      return;
    }
    switch (event.key) {
      case 'Escape':
        event.preventDefault();
        event.stopPropagation();
        this.draft = undefined;
        this.host.dropCell(place);
        void this.host.updateComplete.then(() => input.select());
        break;
      case 'Enter':
      case 'ArrowDown':
      case 'ArrowUp': {
        event.preventDefault();
        this.finish();
        const rows = event.key === 'ArrowUp' ? -1 : 1;
        this.cursor.move(place.grid, place.row + rows, place.column);
        void this.host.updateComplete.then(() => input.matches(':focus') && input.select());
        break;
      }
      case 'z':
        event.stopPropagation(); // while typing, Ctrl+Z is the text field's own
    }
  };

  private begin(input: HTMLInputElement): void {
    this.draft = { ...placeOf(input), text: input.value };
  }

  private finish(): void {
    const { draft } = this;
    if (!draft) return;
    this.draft = undefined;
    const value = parseNumber(draft.text);
    if (value === undefined) this.host.dropCell(draft, draft.text);
    else this.host.commitCell(draft, value);
  }
}

const same = (a: CellPlace, b: CellPlace): boolean =>
  a.grid === b.grid && a.row === b.row && a.column === b.column;

function placeOf(input: HTMLElement): CellPlace {
  const { grid = '', row, column } = input.dataset;
  return { grid, row: Number(row), column: Number(column) };
}
