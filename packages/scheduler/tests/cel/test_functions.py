"""The functions of the libraries; every expression is true."""

import pytest

from kubesched.api.devices import Device
from kubesched.cel import compile_selector

DEVICE = Device(name="gpu-0")


@pytest.mark.parametrize(
    "expression",
    [
        # texts
        "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo') && ''.contains('')",
        "'a\u00e9b'.size() == 3 && size('') == 0 && bytes('\u00e9').size() == 2",
        "'tacocat'.indexOf('') == 0 && 'tacocat'.indexOf('ac') == 1 && 'tacocat'.indexOf('none') == -1",
        "'tacocat'.indexOf('a', 3) == 5 && 'tacocat'.lastIndexOf('at') == 5 && 'tacocat'.lastIndexOf('a', 3) == 1",
        "'tacocat'.lastIndexOf('') == 7 && 'tacocat'.lastIndexOf('', 2) == 2 && 'ab'.lastIndexOf('a', 5) == -1",
        "'TacoCat'.lowerAscii() == 'tacocat' && '\u00c4b'.upperAscii() == '\u00c4B'",
        "'hello hello'.replace('he', 'we') == 'wello wello' && 'aaa'.replace('a', 'b', 2) == 'bba'",
        "'ab'.replace('', '_') == '_a_b_' && 'ab'.replace('a', 'b', 0) == 'ab'",
        "'a,b,c'.split(',') == ['a', 'b', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'ab'.split('', 0) == []",
        "'abc'.split('') == ['a', 'b', 'c'] && 'abc'.split('', 2) == ['a', 'bc']",
        "'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco' && 'abc'.charAt(3) == ''",
        "'  \\ttrim\\n  '.trim() == 'trim' && ['x', 'y'].join() == 'xy' && [].join('-') == ''",
        "strings.quote('a\\n\"b') == '\"a\\\\n\\\\\"b\"'",
        "'abc123'.find('[0-9]+') == '123' && 'abc'.find('x') == '' && '123abc456'.findAll('[0-9]+') == ['123', '456']",
        "'a1b2'.findAll('[0-9]', 1) == ['1'] && 'a1'.findAll('[0-9]', 0) == []",
        "'ab'.matches('^a.$') && !'ab'.matches('^b') && matches('x', 'x|y') && ''.matches('')",
        # formatting
        "'%s %d %%'.format(['a', 1]) == 'a 1 %' && '%b %o %x %X'.format([5, 8, 255, 'z']) == '101 10 ff 7A'",
        "'%s'.format([[1, 'a', 1.5, null, true]]) == '[1, \"a\", 1.500000, null, true]'",
        "'%s'.format([{'b': 1, 'a': b'x'}]) == '{\"a\":b\"x\", \"b\":1}' && '%s'.format([int]) == 'int'",
        "'%.2f'.format([1234.567]) == '1,234.57' && '%f'.format([0.5]) == '0.500000'",
        "'%s %s'.format([duration('90s'), timestamp('2024-01-02T03:04:05Z')]) == '90s 2024-01-02T03:04:05Z'",
        # conversions
        "int('-7') == -7 && int(-1.9) == -1 && int(5u) == 5 && int(duration('1s')) == 1000000000",
        "uint('7') == 7u && uint(1.9) == 1u && double('1.5e3') == 1500.0 && double(3) == 3.0",
        "string(1.0) == '1' && string(1e6) == '1e+06' && string(0.00001) == '1e-05' && string(123456.5) == '123456.5'",
        "string(true) == 'true' && string(b'abc') == 'abc' && string(5u) == '5' && bool('T') && !bool('0')",
        "string(duration('1h1m1.5s')) == '3661.5s' && string(ip('::1')) == '::1' && string(cidr('10.0.0.0/8')) != ''",
        "string(timestamp('2024-01-01T00:00:00.5+02:00')) == '2024-01-01T00:00:00.5+02:00'",
        # times
        "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
        "timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')",
        "duration('1h') - duration('30m') == duration('1800s') && duration('-1.5h') < duration('0')",
        "timestamp('2024-07-14T10:30:45.123Z').getDayOfWeek() == 0 && timestamp(0).getFullYear() == 1970",
        "timestamp('2024-07-14T10:30:45.123Z').getMonth() == 6 && timestamp(0).getDayOfYear() == 0",
        "timestamp('2024-07-14T10:30:45.123Z').getDate() == 14 && timestamp(0).getDayOfMonth() == 0",
        "timestamp('2024-07-14T10:30:45.123Z').getHours('-02:30') == 8 && timestamp(60).getMinutes() == 1",
        "timestamp('2024-07-14T10:30:45.123Z').getMilliseconds() == 123 && timestamp(61).getSeconds() == 1",
        "duration('3723s').getHours() == 1 && duration('3723s').getMinutes() == 62",
        "duration('1.5s').getSeconds() == 1 && duration('1.5s').getMilliseconds() == 1500",
        # lists
        "[1, 2, 3].sum() == 6 && [1.5, 2.0].sum() == 3.5 && [duration('1s'), duration('2s')].sum() == duration('3s')",
        "[3, 1].min() == 1 && ['a', 'b'].max() == 'b' && [1, 1, 2].isSorted() && !['b', 'a'].isSorted()",
        "[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(3) == -1",
        "[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3]",
        "[[[1]], [[2], [3]]].flatten(2) == [1, 2, 3] && [[1]].flatten(0) == [[1]]",
        "[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b'] && lists.range(3) == [0, 1, 2]",
        "[1, 2].reverse() == [2, 1] && [1, 2, 1].distinct() == [1, 2] && [1, 2].first().value() == 1",
        "[1, 2].last() == optional.of(2) && ![].first().hasValue()",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
        "optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.of(1)].unwrapOpt() == [1]",
        "[1, 2].includes(2) && !'a'.includes('b') && 1.includes(1)",
        # quantities and versions
        "quantity('1Gi') == quantity('1024Mi') && quantity('1.5').compareTo(quantity('1500m')) == 0",
        "quantity('2').isGreaterThan(quantity('1')) && quantity('1').isLessThan(quantity('2')) && isQuantity('1e3')",
        "quantity('50k').add(20) == quantity('50020') && quantity('50k').sub(quantity('1k')) == quantity('49k')",
        "quantity('50k').asInteger() == 50000 && !quantity('50m').isInteger() && !quantity('1000m').isInteger()",
        "quantity('50.703k').asApproximateFloat() == 50703.0 && sign(quantity('-1')) == -1 && !isQuantity('1 Gi')",
        "semver('1.0.0-rc.1').isLessThan(semver('1.0.0')) && semver('1.0.0+a') == semver('1.0.0+b')",
        "semver('1.0.0-a.9').isLessThan(semver('1.0.0-a.10')) && semver('1.0.0-1').isLessThan(semver('1.0.0-a'))",
        "semver('v01.2', true).compareTo(semver('1.2.0')) == 0 && semver('1.2.3').patch() == 3 && !isSemver('01.1.1')",
        # networks
        "ip('192.168.0.1').family() == 4 && ip('::1').isLoopback() && ip('0.0.0.0').isUnspecified()",
        "ip('224.0.0.1').isLinkLocalMulticast() && ip('169.254.0.1').isLinkLocalUnicast() && !isIP('::ffff:1.2.3.4')",
        "ip('8.8.8.8').isGlobalUnicast() && ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')",
        "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3')) && !cidr('10.0.0.0/8').containsIP('11.0.0.1')",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
        "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
        "cidr('10.0.0.0/8').prefixLength() == 8 && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0/08')",
        "url('https://user@example.com:80/a b?x=1&x=2#f').getHostname() == 'example.com'",
        "url('https://example.com:80/path').getPort() == '80' && url('https://[::1]:8/').getHostname() == '::1'",
        "url('https://e.com/a b').getEscapedPath() == '/a%20b' && url('/x?k=a&k=b').getQuery()['k'] == ['a', 'b']",
        "url('https://e.com').getScheme() == 'https' && !isURL('../x') && !isURL('') && isURL('/x')",
        # formats
        "!format.dns1123Label().validate('my-name').hasValue() && format.dns1123Label().validate('A').hasValue()",
        "format.dns1123Label().validate('a.b').value() == ['must not contain dots']",
        "format.named('uuid').value().validate('x').value() == ['does not match the UUID format']",
        "!format.named('nope').hasValue() && format.date().validate('2024-02-30').hasValue()",
        "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('a').hasValue()",
        "!format.datetime().validate('2024-01-01t00:00:00z').hasValue()",
        "format.uri().validate('x').hasValue() && !format.labelValue().validate('').hasValue()",
    ],
)  # fmt: skip
def test_functions(expression: str) -> None:
    selector = compile_selector(expression, list_attributes=True)
    assert selector.error == ""
    assert selector.matches("gpu.example.com", DEVICE)
