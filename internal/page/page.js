'use strict';
// Shows of a mark what its row of the figure's table says, and lets the keyboard
// walk the marks of a figure: one stop for Tab, arrows within.
(function () {
  const panel = document.getElementById('panel');
  let pinned = null;

  function element(name, text) {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    return e;
  }

  // Nodes are copied, never parsed: text stays text.
  function copy(to, cell) {
    for (const node of cell.childNodes) to.appendChild(node.cloneNode(true));
    return to;
  }

  function show(mark) {
    const row = document.getElementById(mark.dataset.row);
    if (!row) return;
    const heads = row.closest('table').tHead.rows[0].cells;
    const title = element('h3');
    if (row.cells[0].className === '' && heads[0].classList.contains('n')) title.append(heads[0].textContent + ' ');
    copy(title, row.cells[0]);
    const list = element('dl');
    for (let i = 1; i < row.cells.length; i++) {
      const text = row.cells[i].textContent.trim();
      if (text === '' || text === '0' || !heads[i]) continue;
      list.append(element('dt', heads[i].textContent), copy(element('dd'), row.cells[i]));
    }
    panel.replaceChildren(title, list);
    const source = row.dataset.text && document.getElementById(row.dataset.text);
    if (source) panel.appendChild(source.querySelector('pre').cloneNode(true));
    panel.hidden = false;
  }

  function hide() {
    pinned = null;
    panel.hidden = true;
    for (const e of document.querySelectorAll('.mark.on')) e.classList.remove('on');
  }

  function markOf(event) {
    return event.target.closest ? event.target.closest('.mark[data-row]') : null;
  }

  function marksOf(mark) {
    return Array.from(mark.closest('figure').querySelectorAll('.mark[data-row]'));
  }

  // Scrolling brings other marks under a pointer that does not move: they are not meant.
  let at = '';
  document.addEventListener('pointerover', function (event) {
    const here = event.clientX + ' ' + event.clientY;
    if (here === at || pinned) return;
    at = here;
    const mark = markOf(event);
    if (mark) show(mark);
    else if (!panel.contains(event.target)) panel.hidden = true;
  });
  document.addEventListener('click', function (event) {
    const mark = markOf(event);
    if (panel.contains(event.target)) return;
    if (!mark || pinned === mark) return hide();
    hide();
    pinned = mark;
    mark.classList.add('on');
    show(mark);
  });
  document.addEventListener('focusin', function (event) {
    const mark = markOf(event);
    if (!mark) return;
    for (const other of marksOf(mark)) if (other !== mark && other.tabIndex === 0) other.setAttribute('tabindex', '-1');
    mark.setAttribute('tabindex', '0');
    if (!pinned) show(mark);
  });
  document.addEventListener('keydown', function (event) {
    if (event.key === 'Escape') return hide();
    const mark = markOf(event);
    if (!mark) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const marks = marksOf(mark);
    marks[Math.min(Math.max(marks.indexOf(mark) + step, 0), marks.length - 1)].focus();
  });

  for (const figure of document.querySelectorAll('figure')) {
    const first = figure.querySelector('.mark[data-row]');
    if (first) first.setAttribute('tabindex', '0');
  }
})();
