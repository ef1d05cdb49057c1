# Steps with a definition and its objects, all through the API of custom objects:
# the client's own API of definitions is v1beta1, which is no longer served. Objects
# go as JSON texts, and come so. The client cannot patch.
package CustomSteps;

use strict;
use warnings;

use Harness;
use JSON;

my $schema = {
    type       => 'object',
    properties => {
        spec => {
            type       => 'object',
            properties => { size => { type => 'integer', minimum => 0 }, color => { type => 'string', default => 'red' } },
        },
        status => { type => 'object', properties => { phase => { type => 'string' } } },
    },
};

sub definition {
    my ($group) = @_;
    return {
        apiVersion => 'apiextensions.k8s.io/v1',
        kind       => 'CustomResourceDefinition',
        metadata   => { name => "widgets.$group" },
        spec       => {
            group    => $group,
            scope    => 'Namespaced',
            names    => { plural => 'widgets', singular => 'widget', kind => 'Widget', listKind => 'WidgetList' },
            versions => [
                {   name         => 'v1',
                    served       => JSON::true,
                    storage      => JSON::true,
                    subresources => { status => {} },
                    schema       => { openAPIV3Schema => $schema },
                }
            ],
        },
    };
}

# gone tells whether a request is answered with 404.
sub gone {
    my ($request) = @_;
    return 0 if eval { $request->(); 1 };
    die $@ unless $@ =~ /API Exception\(404\)/;
    return 1;
}

sub steps {
    my ( $factory, $namespace, $group ) = @_;
    my $custom = $factory->get_api('CustomObjects');
    my @where       = ( group => $group, version => 'v1', namespace => $namespace, plural => 'widgets' );
    my @definitions = ( group => 'apiextensions.k8s.io', version => 'v1', plural => 'customresourcedefinitions' );

    # The plain requests, with objects instead of texts.
    my $call = sub {
        my ( $verb, %more ) = @_;
        $more{body} = encode_json( $more{body} ) if $more{body};
        my $method = "${verb}_namespaced_custom_object";
        return decode_json( $custom->$method( @where, %more ) );
    };
    my $widget = sub {
        my ( $name, $size ) = @_;
        return { apiVersion => "$group/v1", kind => 'Widget', metadata => { name => $name }, spec => { size => $size } };
    };

    my $define = sub {
        $custom->create_cluster_custom_object( @definitions, body => encode_json( definition($group) ) );
        eventually(
            'Established',
            sub {
                my $got = decode_json( $custom->get_cluster_custom_object( @definitions, name => "widgets.$group" ) );
                return grep { $_->{type} eq 'Established' && $_->{status} eq 'True' } @{ $got->{status}{conditions} // [] };
            }
        );
    };
    my $objects = sub {
        my $made = $call->( 'create', body => $widget->( 'one', 1 ) );
        equal( $made->{spec}, { size => 1, color => 'red' } );
        my $changed = { %$made, spec => { size => 2 } };
        my $got = $call->( 'replace', name => 'one', body => $changed );
        equal( $got->{spec}, { size => 2, color => 'red' } );
        refused( 409, 'Conflict', sub { $call->( 'replace', name => 'one', body => $changed ) } );
        $got->{status}{phase} = 'Ready';
        $custom->replace_namespaced_custom_object_status( @where, name => 'one', body => encode_json($got) );
        equal( $call->( 'get', name => 'one' )->{status}, { phase => 'Ready' } );
        refused( 422, 'Invalid', sub { $call->( 'create', body => $widget->( 'bad', -1 ) ) } );
        my $listed = $call->('list');
        equal( [ $listed->{kind}, map { $_->{metadata}{name} } @{ $listed->{items} } ], [ 'WidgetList', 'one' ] );
    };
    my $bare = sub {
        refused( 400, 'BadRequest', sub { $call->( 'create', body => { metadata => { name => 'bare' } } ) } );
    };
    my $delete = sub {
        my $options = { apiVersion => 'v1', kind => 'DeleteOptions' };
        $call->( 'delete', name => 'one', body => $options, grace_period_seconds => 0, propagation_policy => 'Background' );
        refused( 404, 'NotFound', sub { $call->( 'get', name => 'one' ) } );
    };
    my $undefine = sub {
        $custom->delete_cluster_custom_object( @definitions, name => "widgets.$group", body => '{}' );
        eventually( 'the definition has gone', sub { gone( sub { $call->('list') } ) } );
    };

    return (
        'create a definition'                                    => $define,
        'custom objects'                                         => $objects,
        'a custom object without apiVersion and kind is refused' => $bare,
        'delete a custom object'                                 => $delete,
        'delete the definition'                                  => $undefine,
    );
}

1;
