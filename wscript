## -*- Mode: python; py-indent-offset: 4; indent-tabs-mode: nil; coding: utf-8; -*-
# SPDX-License-Identifier: GPL-2.0-only
# The module in ns-3.35 and earlier trees, which are built with waf. Later ones read CMakeLists.txt.

import re

BOOST_LIBS = ['iostreams']


def listed(ctx, name):
    """The paths of one list in cmake/sources.cmake, the one list of files for all builds."""
    text = ctx.path.find_node('cmake/sources.cmake').read()
    return re.search(r'^set\(%s$(.*?)^\)' % name, text, re.MULTILINE | re.DOTALL).group(1).split()


def library(package):
    """The name by which waf knows what pkg-config said about a package such as libx>=1.2."""
    return 'FEDERATED_' + package.split('>=')[0].upper()


def dependencies(ctx):
    """The ns-3 modules that CMakeLists.txt links."""
    return re.findall(r'\$\{lib([\w-]+)\}', ctx.path.find_node('CMakeLists.txt').read())


def required_boost_libs(conf):
    conf.env['REQUIRED_BOOST_LIBS'] += BOOST_LIBS


def configure(conf):
    if conf.missing_boost_libs('federated', 'Federated learning', BOOST_LIBS):
        return
    conf.check_cfg(package='eigen3', args='--cflags', uselib_store='EIGEN3', mandatory=False)
    if not conf.check_nonfatal(features='cxx', header_name='Eigen/Core', uselib_store='EIGEN3',
                               includes=conf.env['INCLUDES_EIGEN3'] or ['/usr/include/eigen3']):
        conf.env['MODULES_NOT_BUILT'].append('federated')
        conf.report_optional_feature('federated', 'Federated learning', False, 'Eigen not found')
        return
    conf.env['FEDERATED_GTEST'] = bool(conf.check_nonfatal(
        features='cxx cxxprogram', header_name='gtest/gtest.h', lib='gtest', use='PTHREAD',
        uselib_store='GTEST'))
    for part in listed(conf, 'federated_parts'):
        for package in listed(conf, 'federated_%s_packages' % part):
            name, least = package.split('>=')
            conf.env['HAVE_' + library(package)] = bool(conf.check_cfg(
                package=name, args=['%s >= %s' % (name, least), '--cflags', '--libs'],
                uselib_store=library(package), mandatory=False))
    conf.report_optional_feature('federated', 'Federated learning', True, '')
    conf.report_optional_feature('federated-test', 'Federated learning tests',
                                 conf.env['FEDERATED_GTEST'], 'GoogleTest not found')


def enabled(bld):
    """The ns-3 modules that are built, with all that they need."""
    modules = ['ns3-' + name for name in dependencies(bld)] + bld.env['NS3_ENABLED_MODULES']
    for module in modules:  # grows on the way
        modules += [name for name in bld.get_tgen_by_name(module).use
                    if name.startswith('ns3-') and name not in modules]
    return [name[len('ns3-'):] for name in modules]


def present_parts(bld):
    """The parts whose modules are all built and whose packages were found."""
    modules = enabled(bld)
    return [part for part in listed(bld, 'federated_parts')
            if all(name in modules for name in listed(bld, 'federated_%s_modules' % part))
            and all(bld.env['HAVE_' + library(name)]
                    for name in listed(bld, 'federated_%s_packages' % part))]


def build(bld):
    parts = present_parts(bld)

    def of_parts(kind):
        return [item for part in parts for item in listed(bld, 'federated_%s_%s' % (part, kind))]

    modules = sorted(set(dependencies(bld) + of_parts('modules')))
    module = bld.create_ns3_module('federated', modules)
    module.source = listed(bld, 'federated_sources') + of_parts('sources')
    module.use += ['BOOST', 'EIGEN3', 'PTHREAD']
    module.use += [library(package) for package in of_parts('packages')]
    if 'mpi' in parts:
        module.use.append('MPI')

    headers = bld(features='ns3header')
    headers.module = 'federated'
    headers.source = listed(bld, 'federated_headers') + of_parts('headers')

    if bld.env['FEDERATED_GTEST']:
        tests = bld.create_ns3_module_test_library('federated')
        tests.source = listed(bld, 'federated_test_sources') + of_parts('tests')
        tests.use += ['BOOST', 'EIGEN3', 'GTEST', 'PTHREAD']
        tests.env.append_value('DEFINES', 'FEDERATED_SOURCE_DIR="%s"' % bld.path.abspath())

    if bld.env['ENABLE_EXAMPLES']:
        for name in listed(bld, 'federated_examples') + of_parts('examples'):
            program = bld.create_ns3_program(name, ['federated'] + modules)
            program.path = bld.path.find_dir('examples')
            program.source = name + '.cc'
